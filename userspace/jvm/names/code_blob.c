/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/names/code_blob.h"

#include <errno.h>
#include <string.h>

/* A segment of no block; CodeHeap's segment map, share/memory/heap.cpp. */
#define SEGMENT_FREE 0xff

/* Bytes of the segment map that are read at first: most blobs are shorter. And then; a hop is at most 254 of them. */
#define NEAR_BYTES   64
#define WINDOW_BYTES 512

/*
 * Each hop leads at least one segment (64 or 128 bytes) back, so that this suffices for blobs of
 * 16 MB; the JVM's largest, the interpreter, has 0.3.
 */
#define MAX_HOPS       (1U << 18)
#define MAX_BLOB_BYTES (16U << 20)

static int stale_if_gone(int r)
{
	return r == -EFAULT ? -ESTALE : r;
}

static const struct wire_code_heap *find_heap(const struct wire_jvm *wire, uint64_t address)
{
	const unsigned int count = MIN(wire->heap_count, WIRE_JVM_HEAPS);

	for (unsigned int i = 0; i < count; i++)
		if (address >= wire->heaps[i].start && address < wire->heaps[i].end)
			return &wire->heaps[i];
	return NULL;
}

/* What is read of the map for SEGMENT and those before it, BYTES at most. */
static uint64_t first_of_window(uint64_t segment, uint64_t bytes)
{
	return segment - MIN(segment, bytes - 1);
}

/* The first segment of the block that SEGMENT belongs to. */
static int first_segment(const struct vm_memory *memory, uint64_t map, uint64_t segment,
			 uint64_t *ret_first)
{
	uint8_t window[WINDOW_BYTES] = { 0 };
	uint64_t low = UINT64_MAX;

	for (unsigned int hop = 0; hop < MAX_HOPS; hop++) {
		uint8_t back;

		if (segment < low) {
			int r;

			low = first_of_window(segment, hop ? WINDOW_BYTES : NEAR_BYTES);
			r = vm_memory_read(memory, map + low, window, segment - low + 1);
			if (r < 0)
				return stale_if_gone(r);
		}
		back = window[segment - low];
		if (!back) {
			*ret_first = segment;
			return 0;
		}
		if (back == SEGMENT_FREE || back > segment)
			return -ESTALE;
		segment -= back;
	}
	return -EBADMSG;
}

/* The block in which ADDRESS lies. */
static int find_block(const struct vm_memory *memory, const struct jvm_layout *layout,
		      uint64_t address, uint64_t *ret_block)
{
	const struct wire_jvm *wire = &layout->wire;
	const struct wire_code_heap *heap = find_heap(wire, address);
	uint64_t segment;
	int r;

	if (!heap)
		return -ESTALE;
	r = first_segment(memory, heap->segmap, (address - heap->start) >> wire->log2_segment,
			  &segment);
	if (r == 0)
		*ret_block = heap->start + (segment << wire->log2_segment);
	return r;
}

/* The beginning of the blob in whose block ADDRESS lies. */
static int find_start(const struct vm_memory *memory, const struct jvm_layout *layout,
		      uint64_t address, uint64_t *ret_start)
{
	uint64_t block;
	uint8_t used = 1;
	int r = find_block(memory, layout, address, &block);

	if (r < 0)
		return r;
	/* The segments of a block that was freed stay as they were. */
	if (layout->block_used != JVM_LAYOUT_ABSENT)
		r = vm_memory_read(memory, block + layout->block_used, &used, sizeof(used));
	if (r < 0 || !used)
		return r < 0 ? stale_if_gone(r) : -ESTALE;
	*ret_start = block + layout->wire.block_header;
	return 0;
}

/* Before JDK 23 a blob says by its name only what it is. */
static bool tells_nmethod(const struct jvm_layout *layout, const struct code_blob *blob,
			  uint8_t kind)
{
	if (layout->blob_kind != JVM_LAYOUT_ABSENT)
		return kind == layout->blob_kind_nmethod;
	return strcmp(blob->name, "nmethod") == 0 || strcmp(blob->name, "native nmethod") == 0;
}

static int read_method(const struct vm_memory *memory, const struct jvm_layout *layout,
		       struct code_blob *blob)
{
	return stale_if_gone(
		vm_memory_read_u64(memory, blob->start + layout->nmethod_method, &blob->method));
}

static int read_blob(const struct vm_memory *memory, const struct jvm_layout *layout,
		     struct code_blob *blob)
{
	uint32_t size;
	uint8_t kind;
	const bool has_kind = layout->blob_kind != JVM_LAYOUT_ABSENT;
	const struct vm_span spans[] = {
		{ blob->start + layout->wire.blob_size, &size, sizeof(size) },
		{ blob->start + layout->blob_name, &blob->name_address,
		  sizeof(blob->name_address) },
		{ blob->start + (has_kind ? layout->blob_kind : 0), &kind, sizeof(kind) },
		{ blob->start + layout->wire.compile_id, &blob->compile_id,
		  sizeof(blob->compile_id) },
	};
	int r = memory->read(memory, spans, ARRAY_SIZE(spans));

	if (r < 0)
		return stale_if_gone(r);
	if (size > MAX_BLOB_BYTES)
		return -EBADMSG;
	blob->end = blob->start + size;
	r = vm_memory_read_text(memory, blob->name_address, blob->name, sizeof(blob->name));
	if (r < 0)
		return r == -EFAULT ? -EBADMSG : r;
	blob->is_nmethod = tells_nmethod(layout, blob, kind);
	return blob->is_nmethod ? read_method(memory, layout, blob) : 0;
}

static bool knows_blobs(const struct jvm_layout *layout)
{
	return layout->wire.heap_count && layout->wire.log2_segment < 32 &&
	       layout->blob_name != JVM_LAYOUT_ABSENT &&
	       layout->nmethod_method != JVM_LAYOUT_ABSENT;
}

int code_blob_find(const struct vm_memory *memory, const struct jvm_layout *layout,
		   uint64_t address, struct code_blob *ret_blob)
{
	struct code_blob blob = { 0 };
	int r;

	if (!knows_blobs(layout))
		return -ENODATA;
	r = find_start(memory, layout, address, &blob.start);
	if (!r)
		r = read_blob(memory, layout, &blob);
	if (r < 0)
		return r;
	/* Behind its end the block has a rest, or the blob changed while it was read. */
	if (address < blob.start || address >= blob.end)
		return -ESTALE;
	*ret_blob = blob;
	return 0;
}

/* --- many ------------------------------------------------------------------------------------- */

/* The fields of the largest nmethod, of JDK 8 to 21, end before; those that do not are read of each. */
#define HEAD_BYTES 384

void code_blob_want_segments(struct vm_ahead_reader *reader, const struct jvm_layout *layout,
			     uint64_t address)
{
	const struct wire_code_heap *heap = find_heap(&layout->wire, address);
	uint64_t segment, low;

	if (!heap || !knows_blobs(layout))
		return;
	segment = (address - heap->start) >> layout->wire.log2_segment;
	low = first_of_window(segment, NEAR_BYTES);
	vm_ahead_want(reader, heap->segmap + low, segment - low + 1);
}

void code_blob_want_head(struct vm_ahead_reader *reader, const struct jvm_layout *layout,
			 uint64_t address)
{
	uint64_t block;

	if (knows_blobs(layout) && find_block(&reader->memory, layout, address, &block) == 0)
		vm_ahead_want(reader, block, HEAD_BYTES);
}

/* What says that an nmethod is itself. */
struct proof {
	uint64_t method;
	uint32_t compile_id;
	uint8_t used;
};

static void want_proof(struct vm_gather *g, const struct jvm_layout *layout,
		       const struct code_blob *blob, struct proof *proof)
{
	proof->used = 1;
	if (layout->block_used != JVM_LAYOUT_ABSENT)
		VM_GATHER(g, blob->start - layout->wire.block_header + layout->block_used,
			  proof->used);
	VM_GATHER(g, blob->start + layout->nmethod_method, proof->method);
	VM_GATHER(g, blob->start + layout->wire.compile_id, proof->compile_id);
}

/* PROOFS_AT_ONCE at most. */
#define PROOFS_AT_ONCE (VM_MEMORY_MAX_SPANS / 3)

static void check_some(const struct vm_memory *memory, const struct jvm_layout *layout,
		       const struct code_blob *const *blobs, unsigned int count, bool *ret_same)
{
	struct proof proofs[PROOFS_AT_ONCE];
	struct vm_gather g;
	int r;

	vm_gather_init(&g);
	for (unsigned int i = 0; i < count; i++)
		want_proof(&g, layout, blobs[i], &proofs[i]);
	r = vm_gather_read(&g, memory);
	/* One that cannot be read must not take the others along. */
	for (unsigned int i = 0; i < count && r < 0 && count > 1; i++)
		check_some(memory, layout, &blobs[i], 1, &ret_same[i]);
	for (unsigned int i = 0; i < count && (r == 0 || count == 1); i++)
		ret_same[i] = r == 0 && proofs[i].used &&
			      proofs[i].compile_id == blobs[i]->compile_id &&
			      proofs[i].method == blobs[i]->method;
}

void code_blobs_check(const struct vm_memory *memory, const struct jvm_layout *layout,
		      const struct code_blob *const *blobs, unsigned int count, bool *ret_same)
{
	for (unsigned int at = 0; at < count; at += PROOFS_AT_ONCE)
		check_some(memory, layout, blobs + at, MIN(count - at, PROOFS_AT_ONCE),
			   ret_same + at);
}

bool code_blob_is_same(const struct vm_memory *memory, const struct jvm_layout *layout,
		       const struct code_blob *blob)
{
	bool same;

	code_blobs_check(memory, layout, &blob, 1, &same);
	return same;
}
