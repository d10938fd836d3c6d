/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The input is a JVM's memory from address 0x1000 on; it begins with the exported variables, in
 * the order of enum vmtables_symbol.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "jvm/layout/vmtables.h"

#define BASE 0x1000

struct input {
	const uint8_t *data;
	size_t size;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Whole pages are asked for: what lies behind the input's end in its last page is zero. */
static int read_input(const struct vm_memory *memory, const struct vm_span *spans,
		      unsigned int count)
{
	const struct input *input = memory->data;

	for (unsigned int i = 0; i < count; i++) {
		uint64_t at = spans[i].address - BASE;
		size_t part;

		if (spans[i].address < BASE || at >= input->size)
			return -EFAULT;
		part = MIN(spans[i].len, input->size - at);
		memset(spans[i].data, 0, spans[i].len);
		memcpy(spans[i].data, input->data + at, part);
	}
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input input = { data, size };
	const struct vm_memory memory = { .read = read_input, .data = &input };
	uint64_t symbols[VM_SYMBOL_COUNT], bytes;
	struct vmtables *tables = NULL;
	int64_t value;

	for (unsigned int i = 0; i < VM_SYMBOL_COUNT; i++)
		symbols[i] = BASE + 8 * i;
	if (vmtables_read(&memory, symbols, 0x100, &tables) < 0) {
		if (tables)
			abort();
		return 0;
	}
	vmtables_find_field(tables, "Method", "_constMethod");
	vmtables_find_size(tables, "ConstMethod", &bytes);
	vmtables_find_const(tables, "CodeBlobKind::Nmethod", &value);
	vmtables_unref(tables);
	return 0;
}
