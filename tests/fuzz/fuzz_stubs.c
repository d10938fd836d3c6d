/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hostile JVM's list of stubs and its blob of dispatch stubs. Each page of its memory is the input, so that each address
 * leads somewhere and lists may be circles. What is found lies in the code and has a name.
 */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/macros.h"
#include "jvm/names/stub_list.h"
#include "jvm/names/vtable_stub.h"

#define CODE	   0x7f5000000000ULL
#define CODE_END   (CODE + 0x1000)
#define CALL_STUB  (CODE + 0x400)
#define CHUNK	   (CODE + 0x800)
#define CHUNK_END  CODE_END
#define MAX_STUBS  1024
#define MAX_READS  (1U << 20)
#define HOLE_BITS  0x3f
#define HOLE_VALUE 0x21

#define PAGE_BYTES 4096U

struct input {
	uint8_t page[PAGE_BYTES];
	unsigned int reads;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Some pages are not there. */
static bool is_hole(uint64_t address)
{
	return (address >> 12 & HOLE_BITS) == HOLE_VALUE;
}

static int read_input(const struct vm_memory *memory, const struct vm_span *spans,
		      unsigned int count)
{
	struct input *input = memory->data;

	if (++input->reads > MAX_READS)
		abort();
	for (unsigned int i = 0; i < count; i++) {
		uint64_t at = spans[i].address;

		if (at < PAGE_BYTES || is_hole(at))
			return -EFAULT;
		for (size_t done = 0, piece; done < spans[i].len; done += piece) {
			size_t from = (at + done) % PAGE_BYTES;

			piece = MIN(spans[i].len - done, PAGE_BYTES - from);
			memcpy((char *)spans[i].data + done, input->page + from, piece);
		}
	}
	return 0;
}

static void check_stubs(const struct stub_list *list)
{
	if (list->stubs.len > MAX_STUBS)
		abort();
	for (size_t i = 0; i < list->stubs.len; i++) {
		const struct stub *stub = &list->stubs.items[i];

		if (stub->start < CODE || stub->end > CODE_END || stub->start >= stub->end ||
		    !stub->name[0])
			abort();
	}
}

static void find_stubs(const struct vm_memory *memory, const struct jvm_layout *layout)
{
	struct stub_list list;

	stub_list_init(&list, memory, layout);
	for (uint64_t at = CODE; at < CODE_END; at += 64)
		stub_list_find(&list, at);
	check_stubs(&list);
	stub_list_release(&list);
}

static void name_dispatch(const struct vm_memory *memory, const struct jvm_layout *layout)
{
	const struct code_blob blob = { .start = CHUNK, .end = CHUNK_END, .name = "vtable chunks" };

	for (uint64_t at = CHUNK; at < CHUNK_END; at += 3) {
		const char *name;

		if (vtable_stub_name(memory, layout, &blob, at, &name))
			abort();
		if (name && strcmp(name, "vtable stub") != 0 && strcmp(name, "itable stub") != 0)
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { .reads = 0 };
	const struct vm_memory memory = { .read = read_input, .data = &input };
	struct jvm_layout layout = { .call_stub_at = 0x7f4000000000ULL };

	layout.wire.code_start = CODE;
	layout.wire.code_end = CODE_END;
	layout.wire.call_stub_return = CALL_STUB + 0x90;
	memcpy(input.page, data, MIN(size, sizeof(input.page)));
	find_stubs(&memory, &layout);
	name_dispatch(&memory, &layout);
	return 0;
}
