/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/layout/jvm_heaps.h"

#include <errno.h>

#include "base/macros.h"

/* ReservedCodeCacheSize is at most 2 GB. */
#define MAX_CODE_BYTES (4ULL << 30)
/* CodeCacheSegmentSize is 64 or 128 by default and 1024 at the most. */
#define MIN_LOG2_SEGMENT 3
#define MAX_LOG2_SEGMENT 10
/* A HeapBlock has 8 or 16 bytes. */
#define MAX_BLOCK_HEADER 64
/* Some of a list may be no memory of the code cache: jaotc's libraries in JDK 9 to 16. */
#define MAX_LISTED_HEAPS 32

struct heap_offsets {
	uint64_t start, end, segmap, log2_segment; /* from a CodeHeap */
};

/* share/memory/heap.hpp: CodeHeap; share/memory/virtualspace.hpp: VirtualSpace. */
static int find_offsets(const struct vmstructs *vs, struct heap_offsets *ret_offsets)
{
	uint64_t memory = 0, segmap = 0, log2 = 0, low = 0, low_boundary = 0, high_boundary = 0;
	int r = vmstructs_field_offset(vs, "CodeHeap", "_memory", &memory);

	if (!r)
		r = vmstructs_field_offset(vs, "CodeHeap", "_segmap", &segmap);
	if (!r)
		r = vmstructs_field_offset(vs, "CodeHeap", "_log2_segment_size", &log2);
	if (!r)
		r = vmstructs_field_offset(vs, "VirtualSpace", "_low", &low);
	if (!r)
		r = vmstructs_field_offset(vs, "VirtualSpace", "_low_boundary", &low_boundary);
	if (!r)
		r = vmstructs_field_offset(vs, "VirtualSpace", "_high_boundary", &high_boundary);
	*ret_offsets = (struct heap_offsets){ memory + low_boundary, memory + high_boundary,
					      segmap + low, log2 };
	return r;
}

/* JDK 17 moved the length from the one base class to the other: share/utilities/growableArray.hpp. */
static int find_list_length(const struct vmstructs *vs, uint64_t *ret_offset)
{
	int r = vmstructs_field_offset(vs, "GrowableArrayBase", "_len", ret_offset);

	return r == -ENODATA
		       ? vmstructs_field_offset(vs, "GenericGrowableArray", "_len", ret_offset)
		       : r;
}

/* CodeCache::_heaps, since JDK 9. */
static int read_list(const struct vmstructs *vs, uint64_t heaps[MAX_LISTED_HEAPS],
		     unsigned int *ret_count)
{
	const struct vm_memory *memory = vmstructs_memory(vs);
	uint64_t list, length = 0, items = 0, data;
	int32_t count;
	int r = vmstructs_static_u64(vs, "CodeCache", "_heaps", &list);

	if (!r)
		r = find_list_length(vs, &length);
	if (!r)
		r = vmstructs_field_offset(vs, "GrowableArray<int>", "_data", &items);
	if (r < 0)
		return r;
	if (!list)
		return -EAGAIN;
	const struct vm_span spans[] = {
		{ list + length, &count, sizeof(count) },
		{ list + items, &data, sizeof(data) },
	};
	r = memory->read(memory, spans, ARRAY_SIZE(spans));
	if (r < 0)
		return r;
	if (!count)
		return -EAGAIN;
	if (count < 0 || count > MAX_LISTED_HEAPS)
		return -EBADMSG;
	*ret_count = (unsigned int)count;
	return vm_memory_read(memory, data, heaps, (size_t)count * sizeof(*heaps));
}

/* JDK 8 has one: CodeCache::_heap. */
static int list_heaps(const struct vmstructs *vs, uint64_t heaps[MAX_LISTED_HEAPS],
		      unsigned int *ret_count)
{
	int r = vmstructs_static_u64(vs, "CodeCache", "_heap", &heaps[0]);

	if (r == -ENODATA)
		return read_list(vs, heaps, ret_count);
	*ret_count = 1;
	return r;
}

static int check_heap(const struct wire_code_heap *heap, int32_t log2_segment)
{
	if (!heap->start || !heap->segmap)
		return -EAGAIN;
	if (heap->end <= heap->start || heap->end - heap->start > MAX_CODE_BYTES)
		return -EBADMSG;
	if (log2_segment < MIN_LOG2_SEGMENT || log2_segment > MAX_LOG2_SEGMENT)
		return -EBADMSG;
	return 0;
}

static int read_heap(const struct vm_memory *memory, const struct heap_offsets *offsets,
		     uint64_t at, struct wire_code_heap *heap, int32_t *log2_segment)
{
	const struct vm_span spans[] = {
		{ at + offsets->start, &heap->start, sizeof(heap->start) },
		{ at + offsets->end, &heap->end, sizeof(heap->end) },
		{ at + offsets->segmap, &heap->segmap, sizeof(heap->segmap) },
		{ at + offsets->log2_segment, log2_segment, sizeof(*log2_segment) },
	};
	int r = at ? memory->read(memory, spans, ARRAY_SIZE(spans)) : -EAGAIN;

	return r < 0 ? r : check_heap(heap, *log2_segment);
}

static int add_heap(struct wire_jvm *wire, const struct wire_code_heap *heap, int32_t log2_segment)
{
	if (wire->heap_count == WIRE_JVM_HEAPS)
		return -EBADMSG;
	if (wire->heap_count && wire->log2_segment != log2_segment)
		return -EBADMSG;
	wire->log2_segment = (uint8_t)log2_segment;
	wire->heaps[wire->heap_count++] = *heap;
	if (wire->heap_count == 1 || heap->start < wire->code_start)
		wire->code_start = heap->start;
	if (heap->end > wire->code_end)
		wire->code_end = heap->end;
	return wire->code_end - wire->code_start > MAX_CODE_BYTES ? -EBADMSG : 0;
}

/* What lies outside of these is no memory of the code cache. JDK 8 does not have them. */
static int read_bounds(const struct vmstructs *vs, uint64_t *ret_low, uint64_t *ret_high)
{
	int r = vmstructs_static_u64(vs, "CodeCache", "_low_bound", ret_low);

	if (!r)
		r = vmstructs_static_u64(vs, "CodeCache", "_high_bound", ret_high);
	if (r == -ENODATA) {
		*ret_low = 0;
		*ret_high = UINT64_MAX;
		return 0;
	}
	return r;
}

static int read_heaps(const struct vmstructs *vs, struct wire_jvm *wire)
{
	uint64_t heaps[MAX_LISTED_HEAPS], low = 0, high = 0;
	struct heap_offsets offsets;
	unsigned int count = 0;
	int r = find_offsets(vs, &offsets);

	if (!r)
		r = list_heaps(vs, heaps, &count);
	if (!r)
		r = read_bounds(vs, &low, &high);
	for (unsigned int i = 0; !r && i < count; i++) {
		struct wire_code_heap heap;
		int32_t log2_segment;

		r = read_heap(vmstructs_memory(vs), &offsets, heaps[i], &heap, &log2_segment);
		if (!r && heap.start >= low && heap.end <= high)
			r = add_heap(wire, &heap, log2_segment);
	}
	if (!r && !wire->heap_count)
		r = -EAGAIN;
	return r;
}

static int read_block_header(const struct vmstructs *vs, struct wire_jvm *wire)
{
	uint64_t size;
	int r = vmstructs_sizeof(vs, "HeapBlock", &size);

	if (r < 0)
		return r;
	if (!size || size > MAX_BLOCK_HEADER)
		return -EBADMSG;
	wire->block_header = (uint8_t)size;
	return 0;
}

int jvm_heaps_read(const struct vmstructs *vs, struct wire_jvm *wire, struct err *err)
{
	int r;

	wire->heap_count = 0;
	wire->code_start = wire->code_end = 0;
	r = read_heaps(vs, wire);
	if (!r)
		r = read_block_header(vs, wire);
	if (r == -EAGAIN)
		return err_set(err, r, "the JVM is still starting");
	if (r == -ENODATA)
		return err_set(err, -EOPNOTSUPP,
			       "this JVM's VMStructs do not tell where its code heaps are");
	return r < 0 ? err_sys(err, r, "cannot read where the JVM's code lies") : 0;
}
