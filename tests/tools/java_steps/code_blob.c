// SPDX-License-Identifier: Apache-2.0
/* src/hotspot/share/memory/heap.hpp, code/codeBlob.hpp, code/nmethod.hpp, of JDK 8 to 28. */
#include "code_blob.h"

#include <errno.h>
#include <string.h>

#define MOST_HEAPS 8
#define MOST_HOPS  100000

static const struct vmstructs *tables;

static uint64_t offset_of(const char *type, const char *field)
{
	uint64_t offset;

	return vmstructs_field_offset(tables, type, field, &offset) == 0 ? offset : UINT64_MAX;
}

/* SIZE bytes at BASE + the field's offset; 0 when this JVM lacks the field. */
static uint64_t read_field(uint64_t base, const char *type, const char *field, size_t size)
{
	uint64_t offset = offset_of(type, field), value = 0;

	if (offset == UINT64_MAX ||
	    vm_memory_read(vmstructs_memory(tables), base + offset, &value, size) < 0)
		return 0;
	return value;
}

static int32_t read_int(uint64_t base, const char *type, const char *field)
{
	return (int32_t)read_field(base, type, field, 4);
}

/* One heap in JDK 8, a GrowableArray<CodeHeap*> later. */
static size_t find_heaps(uint64_t heaps[MOST_HEAPS])
{
	const struct vm_memory *memory = vmstructs_memory(tables);
	uint64_t array, data, count;

	if (vmstructs_static_u64(tables, "CodeCache", "_heap", &heaps[0]) == 0)
		return 1;
	if (vmstructs_static_u64(tables, "CodeCache", "_heaps", &array) < 0)
		return 0;
	data = read_field(array, "GrowableArray<int>", "_data", 8);
	count = read_field(array, "GrowableArrayBase", "_len", 4);
	if (!count)
		count = read_field(array, "GenericGrowableArray", "_len", 4);
	count = MIN(count, MOST_HEAPS);
	if (vm_memory_read(memory, data, heaps, count * 8) < 0)
		return 0;
	return count;
}

static uint64_t find_in_heap(uint64_t heap, uint64_t address)
{
	uint64_t memory = heap + offset_of("CodeHeap", "_memory");
	uint64_t map = heap + offset_of("CodeHeap", "_segmap");
	uint64_t low = read_field(memory, "VirtualSpace", "_low", 8), header = 0, segment;
	int shift = read_int(heap, "CodeHeap", "_log2_segment_size");
	uint8_t hop = 0;

	if (address < low || address >= read_field(memory, "VirtualSpace", "_high", 8))
		return 0;
	map = read_field(map, "VirtualSpace", "_low", 8);
	segment = (address - low) >> shift;
	vmstructs_sizeof(tables, "HeapBlock", &header);
	for (int hops = 0; hops < MOST_HOPS; hops++) {
		if (vm_memory_read(vmstructs_memory(tables), map + segment, &hop, 1) < 0 ||
		    hop == 0xff || hop > segment)
			return 0;
		if (!hop)
			return low + (segment << shift) + header;
		segment -= hop;
	}
	return 0;
}

static void read_name(struct code_blob *blob)
{
	uint64_t at = read_field(blob->address, "CodeBlob", "_name", 8);

	for (size_t i = 0; i + 1 < sizeof(blob->name); i++)
		if (vm_memory_read(vmstructs_memory(tables), at + i, &blob->name[i], 1) < 0 ||
		    !blob->name[i])
			break;
}

static void read_method(struct code_blob *blob)
{
	uint64_t at = blob->address;

	if (strcmp(blob->name, "nmethod") != 0 && strcmp(blob->name, "native nmethod") != 0)
		return;
	blob->method = read_field(at, "nmethod", "_method", 8);
	if (!blob->method)
		blob->method = read_field(at, "CompiledMethod", "_method", 8);
	blob->compile_id = read_int(at, "nmethod", "_compile_id");
	blob->level = (int8_t)read_field(at, "nmethod", "_comp_level", 1);
	blob->is_osr = read_int(at, "nmethod", "_entry_bci") >= 0;
}

static void read_blob(struct code_blob *blob)
{
	const char *type = vmstructs_field_type(tables, "CodeBlob", "_frame_complete_offset");
	uint64_t at = blob->address;

	blob->size = read_int(at, "CodeBlob", "_size");
	blob->frame_size = read_int(at, "CodeBlob", "_frame_size");
	blob->frame_complete = read_int(at, "CodeBlob", "_frame_complete_offset");
	if (type && strcmp(type, "int") != 0)
		blob->frame_complete = (int16_t)blob->frame_complete;
	blob->code_begin = read_field(at, "CodeBlob", "_code_begin", 8);
	if (!blob->code_begin)
		blob->code_begin = at + (uint64_t)read_int(at, "CodeBlob", "_code_offset");
	read_name(blob);
	read_method(blob);
}

int code_blob_find(const struct vmstructs *vs, uint64_t address, struct code_blob *ret_blob)
{
	uint64_t heaps[MOST_HEAPS];
	struct code_blob blob = { 0 };

	tables = vs;
	for (size_t i = find_heaps(heaps); i-- > 0 && !blob.address;)
		blob.address = find_in_heap(heaps[i], address);
	if (!blob.address)
		return -ENOENT;
	read_blob(&blob);
	*ret_blob = blob;
	return 0;
}
