/* SPDX-License-Identifier: Apache-2.0 */
/*
 * share/code/vtableStubs.{hpp,cpp}, JDK 8 to 28: 32 stubs lie in a blob one behind the other, each behind a VtableStub:
 * the next one in the hash table (in another chunk, or NULL), its index, where in its code an AbstractMethodError and
 * a NullPointerException may happen, and whether it is of a vtable.
 */
#include "jvm/names/vtable_stub.h"

#include <string.h>

#include "base/macros.h"

/* The longest, an itable stub's, has 260 bytes; code_size_limit() allows 640. */
#define MAX_STUB_BYTES 640

struct header {
	uint64_t next;
	int16_t index;
	int16_t abstract_at, null_at;
	uint8_t is_vtable;
	uint8_t unused;
};

static bool is_header(const struct jvm_layout *layout, const struct header *h)
{
	const struct wire_jvm *wire = &layout->wire;

	if (h->next && (h->next % 8 || h->next < wire->code_start || h->next >= wire->code_end))
		return false;
	/* A method is looked up before it is called; room that no stub has taken yet is zeros. */
	return h->index >= 0 && h->is_vtable <= 1 && h->abstract_at < MAX_STUB_BYTES &&
	       h->null_at >= 0 && h->null_at < h->abstract_at;
}

/* Of the nearest header before the end of the LEN bytes. */
static const char *name_before(const struct jvm_layout *layout, const uint8_t *bytes, size_t len)
{
	struct header h;

	for (size_t at = len - sizeof(h);; at -= 8) {
		memcpy(&h, bytes + at, sizeof(h));
		if (is_header(layout, &h))
			return h.is_vtable ? "vtable stub" : "itable stub";
		if (at < 8)
			return NULL;
	}
}

int vtable_stub_name(const struct vm_memory *memory, const struct jvm_layout *layout,
		     const struct code_blob *blob, uint64_t address, const char **name)
{
	uint8_t bytes[MAX_STUB_BYTES + sizeof(struct header)];
	uint64_t start = MAX(blob->start, address - MIN(address, sizeof(bytes)));
	uint64_t end = address & ~7ULL;
	int error;

	*name = NULL;
	if (strcmp(blob->name, "vtable chunks") != 0)
		return 0;
	start = (start + 7) & ~7ULL;
	if (end < start + sizeof(struct header) || end - start > sizeof(bytes))
		return 0;
	error = vm_memory_read(memory, start, bytes, end - start);
	if (error < 0)
		return vm_error_passes(error) ? error : 0;
	*name = name_before(layout, bytes, end - start);
	return 0;
}
