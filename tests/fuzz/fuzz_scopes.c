/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Debug information of an nmethod: the places of its fields are honest, what these say and all that they lead to
 * is the input's. Whatever comes out must be sound: chains end, and name methods that are there.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "jvm/names/code_scopes.h"

#define BLOB	   0x7f0000000000ULL
#define BLOB_BYTES 4096U

static const struct scopes_layout layouts[] = {
	{ SCOPES_IN_BLOB, 4, 8, 12, 16, 0, 0, 0, 16, 0, 4 },
	{ SCOPES_BY_POINTER, 4, 8, 24, 16, 0, 0, 0, 16, 0, 4 },
	{ SCOPES_IN_BLOCK, 4, 8, 8, 16, 24, 20, 32, 16, 0, 4 },
};

struct input {
	const uint8_t *data;
	size_t size;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The blob is the input; behind it there is nothing. */
static int read_input(const struct vm_memory *memory, const struct vm_span *spans,
		      unsigned int count)
{
	const struct input *input = memory->data;

	for (unsigned int i = 0; i < count; i++) {
		uint64_t at = spans[i].address - BLOB;

		if (spans[i].address < BLOB || at > input->size || spans[i].len > input->size - at)
			return -EFAULT;
		memcpy(spans[i].data, input->data + at, spans[i].len);
	}
	return 0;
}

static void check_chain(const struct code_scopes *scopes, uint32_t node)
{
	while (node != CODE_NO_NODE) {
		uint32_t caller;

		if (node >= scopes->node_count ||
		    scopes->nodes[node].method >= scopes->method_count ||
		    scopes->nodes[node].bci < -1)
			abort();
		caller = scopes->nodes[node].caller;
		if (caller != CODE_NO_NODE && caller >= node)
			abort();
		node = caller;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jvm_layout layout = { .wire = { .code_begin_kind = WIRE_CODE_BEGIN_OFFSET } };
	const struct code_blob blob = { .start = BLOB,
					.end = BLOB + BLOB_BYTES,
					.is_nmethod = true };
	struct input input = { data + 2, size - 2 };
	const struct vm_memory memory = { .read = read_input, .data = &input };
	struct code_scopes *scopes = NULL;

	if (size < 2)
		return 0;
	layout.unsigned5_bias = data[1] % 2;
	if (code_scopes_read(&memory, &layout, &layouts[data[0] % 3], &blob, &scopes) < 0) {
		if (scopes)
			abort();
		return 0;
	}
	for (uint64_t at = 0; at < BLOB_BYTES; at++)
		check_chain(scopes, code_scopes_find(scopes, scopes->code_start + at));
	if (code_scopes_bytes(scopes) > BLOB_BYTES * sizeof(uint64_t) * 4)
		abort();
	free(scopes);
	return 0;
}
