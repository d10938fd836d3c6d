/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The input is a request and a JVM's memory from BASE on, which begins with a code heap and its
 * segment map and changes while it is read.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/layout_17.h"
#include "jvm/names/code_names.h"
#include "jvm/names/method_chain.h"

#define BASE	      0x1000
#define SEGMENTS      16
#define SEGMENT_BYTES 128
#define SEGMAP	      (BASE + SEGMENTS * SEGMENT_BYTES)
#define MAX_TEXT      (2 * METHOD_MAX_NAME)

struct request {
	uint16_t offset; /* of the address, from BASE */
	uint8_t release; /* odd: blobs as JDK 25 has them, else JDK 17; then scopes (2 bits), bias (1) */
	uint8_t change_after; /* so many reads */
	uint32_t compile_id;
	uint16_t change_at; /* this byte of the memory */
	uint8_t change_to;
	uint8_t asked; /* so many times */
};

struct input {
	const struct request *request;
	const uint8_t *data;
	size_t size;
	unsigned int reads;
};

static const struct jvm_layout layout_17 = {
	LAYOUT_17_NAMES,
	.pool_source_index = 54,
	LAYOUT_17_BLOBS,
	.wire = { LAYOUT_17_WIRE_BLOBS, .heaps = { { BASE, SEGMAP, SEGMAP } } },
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int read_span(struct input *input, const struct vm_span *span)
{
	uint64_t at = span->address - BASE, change = input->request->change_at - at;

	if (span->address < BASE || at > input->size || span->len > input->size - at)
		return -EFAULT;
	memcpy(span->data, input->data + at, span->len);
	if (input->reads > input->request->change_after && change < span->len)
		((uint8_t *)span->data)[change] = input->request->change_to;
	return 0;
}

static int read_input(const struct vm_memory *memory, const struct vm_span *spans,
		      unsigned int count)
{
	struct input *input = memory->data;
	int r = 0;

	input->reads++;
	for (unsigned int i = 0; i < count && !r; i++)
		r = read_span(input, &spans[i]);
	return r;
}

static void check_text(const char *text)
{
	if (!text || strlen(text) > MAX_TEXT)
		abort();
}

static void find(struct code_names *names, const struct request *request)
{
	static struct java_answer answer;

	if (code_names_find(names, BASE + request->offset, request->compile_id, &answer) < 0)
		return;
	if (answer.stub) {
		check_text(answer.stub);
		return;
	}
	if (!answer.count || answer.count > JAVA_MAX_INLINE)
		abort();
	for (unsigned int i = 0; i < answer.count; i++) {
		check_text(answer.frames[i].class_name);
		check_text(answer.frames[i].method);
		check_text(answer.frames[i].source);
		if (answer.frames[i].bci < -1 || answer.frames[i].bci > UINT16_MAX)
			abort();
	}
}

/* As JDK 8, 17 and 25 have it; the last one says nothing. */
static const struct scopes_layout scopes_layouts[] = {
	{ SCOPES_IN_BLOB, 180, 184, 176, 172, 0, 0, 0, 16, 0, 4 },
	{ SCOPES_BY_POINTER, 268, 272, 120, 260, 0, 0, 0, 16, 0, 4 },
	{ SCOPES_IN_BLOCK, 196, 200, 200, 28, 96, 160, 16, 16, 0, 4 },
	{ .place = SCOPES_UNKNOWN },
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct jvm_layout layout = layout_17;
	struct request request;
	struct input input = { .request = &request };
	const struct vm_memory memory = { .read = read_input, .data = &input };
	struct method_names *methods;
	struct code_names *names;

	if (size < sizeof(request))
		return 0;
	memcpy(&request, data, sizeof(request));
	input.data = data + sizeof(request);
	input.size = size - sizeof(request);
	layout.unsigned5_bias = request.release / 8 % 2;
	if (request.release % 2) {
		layout.blob_name = 8;
		layout.blob_kind = 56;
		layout.blob_kind_nmethod = 1;
		layout.nmethod_method = 80;
		layout.block_used = 4;
		layout.wire.block_header = 8;
		layout.wire.blob_size = 24;
		layout.wire.compile_id = 212;
	}
	methods = method_names_new(&memory, &layout);
	names = code_names_new(&memory, &layout, &scopes_layouts[request.release / 2 % 4], methods);
	for (unsigned int i = 0; i <= request.asked % 4; i++)
		find(names, &request);
	code_names_free(names);
	method_names_free(methods);
	return 0;
}
