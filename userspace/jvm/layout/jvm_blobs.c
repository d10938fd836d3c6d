/* SPDX-License-Identifier: Apache-2.0 */
/* share/memory/heap.hpp: a heap is a row of blocks, each with its length in segments. */
#include "jvm/layout/jvm_blobs.h"

#include <errno.h>
#include <string.h>

#include "base/macros.h"

/* A full code cache of 240 MB has a third of it; so many are read in 0.2 s. */
#define MAX_BLOCKS (1U << 17)
#define NAME_BYTES 64
/* nmethods and stubs alternate; their names are constants of the library. */
#define NAMES	   4
#define MAX_HEADER 64

struct walk {
	const struct vm_memory *memory;
	const struct jvm_layout *layout;
	const struct wire_jvm *wire;
	uint64_t length_at, used_at; /* in a block's header */
	unsigned int length_bytes;
	unsigned int blocks;

	struct {
		uint64_t at;
		char text[NAME_BYTES];
	} names[NAMES];

	bool (*fn)(const struct jvm_blob *blob, void *data);
	void *data;
};

/* A block's header and the beginning of its blob. */
struct block {
	uint64_t at, bytes;
	bool used;
	uint8_t head[MAX_HEADER];
	uint8_t blob[WIRE_BLOB_BYTES];
};

static int walk_init(struct walk *w, const struct vmstructs *vs)
{
	const char *type = vmstructs_field_type(vs, "HeapBlock::Header", "_length");
	int r = vmstructs_field_offset(vs, "HeapBlock::Header", "_length", &w->length_at);

	if (!r)
		r = vmstructs_field_offset(vs, "HeapBlock::Header", "_used", &w->used_at);
	if (r < 0)
		return r;
	w->length_bytes = type && !strcmp(type, "size_t") ? 8 : 4;
	if (w->wire->block_header > MAX_HEADER || w->wire->block_header < w->length_bytes ||
	    w->length_at > w->wire->block_header - w->length_bytes ||
	    w->used_at >= w->wire->block_header)
		return -EBADMSG;
	return 0;
}

static uint64_t field(const uint8_t *bytes, uint64_t at, unsigned int width)
{
	uint64_t value = 0;

	memcpy(&value, bytes + at, width);
	return value;
}

static int read_block(const struct walk *w, const struct wire_code_heap *heap, uint64_t at,
		      struct block *block)
{
	const struct vm_span spans[] = {
		{ at, block->head, w->wire->block_header },
		{ at + w->wire->block_header, block->blob, w->wire->blob_bytes },
	};
	uint64_t segments;
	int r;

	/* The last blob's room ends with the heap's: the reserved rest cannot be read. */
	memset(block->blob, 0, sizeof(block->blob));
	r = w->memory->read(w->memory, spans, ARRAY_SIZE(spans));
	if (r < 0)
		r = w->memory->read(w->memory, spans, 1);
	if (r < 0)
		return r;
	segments = field(block->head, w->length_at, w->length_bytes);
	if (!segments || segments > (heap->end - at) >> w->wire->log2_segment)
		return -EBADMSG;
	block->at = at;
	block->bytes = segments << w->wire->log2_segment;
	block->used = block->head[w->used_at];
	return 0;
}

/* Read once; a name that cannot be read is empty. */
static const char *name_at(struct walk *w, uint64_t at)
{
	unsigned int slot = (unsigned int)(at >> 3) % NAMES;
	char *text = w->names[slot].text;

	if (w->names[slot].at != at) {
		if (vm_memory_read_text(w->memory, at, text, NAME_BYTES) < 0)
			text[0] = 0;
		w->names[slot].at = at;
	}
	return text;
}

static bool show_blob(struct walk *w, const struct block *block)
{
	const struct wire_jvm *wire = w->wire;
	uint64_t blob_at = block->at + wire->block_header;
	struct jvm_blob blob = {
		.code = field(block->blob, wire->code_begin, 8),
		.end = blob_at + (uint32_t)field(block->blob, wire->blob_size, 4),
		.frame_size = (int32_t)field(block->blob, wire->frame_size, 4),
	};

	if (wire->code_begin_kind == WIRE_CODE_BEGIN_OFFSET)
		blob.code = blob_at + (uint32_t)blob.code;
	if (blob.code <= blob_at || blob.code >= blob.end || blob.end > block->at + block->bytes)
		return true;
	blob.name = name_at(w, field(block->blob, w->layout->blob_name, 8));
	return w->fn(&blob, w->data);
}

static bool walk_heap(struct walk *w, const struct wire_code_heap *heap)
{
	struct block block;

	for (uint64_t at = heap->start; at < heap->end; at += block.bytes) {
		if (w->blocks++ >= MAX_BLOCKS || read_block(w, heap, at, &block) < 0)
			return true;
		if (block.used && !show_blob(w, &block))
			return false;
	}
	return true;
}

void jvm_blobs_walk(const struct vmstructs *vs, const struct jvm_layout *layout, uint64_t address,
		    bool (*fn)(const struct jvm_blob *blob, void *data), void *data)
{
	struct walk w = { .memory = vmstructs_memory(vs),
			  .layout = layout,
			  .wire = &layout->wire,
			  .fn = fn,
			  .data = data };

	if (layout->blob_name > WIRE_BLOB_BYTES - 8 || walk_init(&w, vs) < 0)
		return;
	for (unsigned int i = 0; i < w.wire->heap_count; i++) {
		const struct wire_code_heap *heap = &w.wire->heaps[i];

		if ((!address || (address >= heap->start && address < heap->end)) &&
		    !walk_heap(&w, heap))
			return;
	}
}
