/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where frames of virtual threads in the heap are, by what a hostile JVM says of its classes. The input's first byte chooses how the fabricated one
 * describes itself, the rest changes its memory: offset (2 bytes), how many bytes (1), those bytes.
 */
#include <stddef.h>
#include <stdint.h>

/* Before fixtures. */
#include "fuzz_asserts.h"

#include "fake_changes.h"
#include "fake_chunks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_in(const struct wire_chunks *c, uint16_t offset, unsigned int bytes)
{
	return offset % bytes == 0 && offset + bytes <= c->stack;
}

/* What BPF reads by it lies in a chunk's fields. */
static void check(const struct wire_chunks *c)
{
	assert_true(c->klass_mask && (c->oop_bytes == 4 || c->oop_bytes == 8));
	assert_true(c->stack && c->stack <= WIRE_CHUNK_BYTES);
	assert_true(is_in(c, c->parent, c->oop_bytes) && is_in(c, c->size, 4) &&
		    is_in(c, c->sp, 4));
	assert_true((c->bottom == WIRE_JVM_ABSENT) != (c->argsize == WIRE_JVM_ABSENT));
	assert_true(is_in(c, c->bottom == WIRE_JVM_ABSENT ? c->argsize : c->bottom, 4));
	assert_true(c->room == WIRE_JVM_ABSENT || is_in(c, c->room, 4));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t form = size ? data[0] : 0;
	struct chunks_vm *f = new_vm(form & 1);
	struct wire_chunks chunks;

	put_fields(f);
	for (unsigned int i = 0; i < FLAGS; i++)
		set_flag(f, i, (form >> (i + 1)) & 1);
	if (size)
		change(&f->vm.fake, data + 1, size - 1);
	if (read_it(f, &chunks) == 0)
		check(&chunks);
	close_vm(f);
	return 0;
}
