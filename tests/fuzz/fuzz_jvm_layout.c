/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layout of a hostile JVM. The input's first byte chooses a fabricated JVM; the rest changes
 * its memory, VMStructs included: offset (2 bytes), how many bytes (1), those bytes.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Before fixtures. */
#include "fuzz_asserts.h"

#include "fake_changes.h"
#include "fake_yield_calls.h"
#include "jvm/continuation/jvm_yielding.h"
#include "jvm/layout/jvm_blobs.h"
#include "jvm/layout/jvm_layout_read.h"
#include "jvm/layout/jvm_tlab.h"
#include "jvm/names/scopes_layout.h"

static const struct {
	uint32_t release;
	bool stripped;
} shapes[] = {
	{ 8, false }, { 17, false }, { 21, false }, { 21, true }, { 25, false }, { 25, true }
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Made once; each run works on a copy. */
static struct fake_jvm *shape_of(uint8_t choice)
{
	static struct fake_jvm *made[ARRAY_SIZE(shapes)], *copy;
	unsigned int i = choice % ARRAY_SIZE(shapes);

	if (!copy)
		copy = calloc(1, sizeof(*copy));
	if (!made[i]) {
		made[i] = fake_jvm_fill(shapes[i].release, shapes[i].stripped);
		if (shapes[i].release >= 21)
			add_yield_calls(made[i], made[i]->barrier + LIB_OFFSET);
	}
	*copy = *made[i];
	copy->vm.fake.memory.data = &copy->vm.fake;
	return copy;
}

static void check_wire(const struct wire_jvm *wire)
{
	const uint16_t offsets[] = { wire->blob_size,  wire->frame_size, wire->frame_complete,
				     wire->code_begin, wire->orig_pc,	 wire->compile_id };

	for (unsigned int i = 0; i < ARRAY_SIZE(offsets); i++)
		assert_true(offsets[i] < WIRE_BLOB_BYTES - 8 && offsets[i] + 2 <= wire->blob_bytes);
	assert_true(wire->blob_bytes <= WIRE_BLOB_BYTES);
	if (wire->deopt_kind != WIRE_DEOPT_NONE)
		assert_true(wire->deopt + 4 <= wire->blob_bytes);
	assert_true(wire->heap_count && wire->heap_count <= WIRE_JVM_HEAPS);
	for (unsigned int i = 0; i < wire->heap_count; i++)
		assert_true(wire->heaps[i].start >= wire->code_start &&
			    wire->heaps[i].start < wire->heaps[i].end &&
			    wire->heaps[i].end <= wire->code_end);
	assert_true(wire->entry_count != 1 && wire->entry_count <= WIRE_JVM_ENTRIES);
	for (unsigned int i = 1; i < wire->entry_count; i++)
		assert_true(wire->entries[i - 1].frame < wire->entries[i].start);
	assert_true(wire->call_stub_return >= wire->code_start &&
		    wire->call_stub_return < wire->code_end);
}

static bool count_blob(const struct jvm_blob *blob, void *data)
{
	size_t *bytes = data;

	assert_true(blob->code < blob->end);
	*bytes += strlen(blob->name);
	return true;
}

/* Where the library would be whose functions the stubs call. */
static void read_others(const struct vmstructs *vs, const struct jvm_layout *layout, uint64_t lib)
{
	struct scopes_layout scopes;
	struct jvm_yield_code code;
	struct wire_tlab tlab;
	struct err err;

	if (jvm_yield_code_find(vs, layout, lib, lib + LIB_BYTES, &code) == 0)
		assert_true(code.freeze - lib < LIB_BYTES && code.thaw - lib < LIB_BYTES);
	scopes_layout_read(vs, &scopes);
	(void)jvm_tlab_read(vs, layout->feature_release, &tlab, &err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(vmstructs_closep) struct vmstructs *vs = NULL;
	struct fake_jvm *jvm = shape_of(size ? data[0] : 0);
	struct jvm_layout layout = { 0 };
	struct err err = { 0 };
	size_t bytes = 0;

	if (size)
		change(&jvm->vm.fake, data + 1, size - 1);
	if (vmstructs_open_memory(&jvm->vm.fake.memory, jvm->vm.symbols, &vs) < 0)
		return 0;
	if (jvm_layout_read(vs, &layout, &err) < 0) {
		assert_true(err.text[0] != '\0');
		return 0;
	}
	check_wire(&layout.wire);
	jvm_blobs_walk(vs, &layout, 0, count_blob, &bytes);
	read_others(vs, &layout, jvm->barrier + LIB_OFFSET);
	if (jvm_layout_refresh(vs, &layout) == 0)
		check_wire(&layout.wire);
	return 0;
}
