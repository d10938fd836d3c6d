/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interpreter is a queue of codelets without gaps, each with its header, code and a name:
 * share/interpreter/interpreter.hpp (InterpreterCodelet), share/code/stubs.hpp.
 */
#include "jvm/layout/jvm_entries.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

/* It takes 95 to 146 kB. */
#define MAX_USED_BYTES (4U << 20)
/* "method entry point (kind = …)", since JDK 17 also "native method entry point (…)". */
#define ENTRY_NAME     "method entry point"
#define MAX_NAME_BYTES 96
/* Some 50 come before the last entry. */
#define MAX_CODELETS 512

struct codelets {
	struct vm_pages *pages; /* for names */
	uint8_t *bytes;		/* owned */
	uint32_t used;
	uint32_t header;
	uint32_t size_at, name_at; /* in a codelet */
};

struct codelet {
	uint32_t start, end; /* in `bytes`, its header included */
	bool is_entry;
};

static int codelets_find_fields(const struct vmstructs *vs, struct codelets *c)
{
	uint64_t size_at = 0, name_at = 0, header = 0;
	int r = vmstructs_field_offset(vs, "InterpreterCodelet", "_size", &size_at);

	if (!r)
		r = vmstructs_field_offset(vs, "InterpreterCodelet", "_description", &name_at);
	if (!r)
		r = vmstructs_sizeof(vs, "InterpreterCodelet", &header);
	if (r < 0)
		return r;
	if (header < 8 || header > 256 || size_at > header - 4 || name_at > header - 8)
		return -EBADMSG;
	c->size_at = (uint32_t)size_at;
	c->name_at = (uint32_t)name_at;
	c->header = (uint32_t)header;
	return 0;
}

static int codelets_get(const struct codelets *c, uint32_t start, struct codelet *ret_codelet)
{
	char name[MAX_NAME_BYTES];
	uint64_t name_address;
	int32_t size;

	if (c->used - start < c->header)
		return -EBADMSG;
	memcpy(&size, c->bytes + start + c->size_at, sizeof(size));
	memcpy(&name_address, c->bytes + start + c->name_at, sizeof(name_address));
	if (size < (int32_t)c->header || (uint32_t)size > c->used - start)
		return -EBADMSG;
	*ret_codelet = (struct codelet){ .start = start, .end = start + (uint32_t)size };
	/* A name that cannot be read is not one of ours. */
	if (vm_pages_read_string(c->pages, name_address, name, sizeof(name)) == 0)
		ret_codelet->is_entry = strstr(name, ENTRY_NAME) != NULL;
	return 0;
}

/* Where the fixed frame begins, from the codelet's start; 0: nowhere. See struct wire_entry. */
static uint32_t find_frame(const uint8_t *bytes, uint32_t len)
{
	static const uint8_t encodings[][7] = {
		{ 0x50, 0x55, 0x48, 0x8b, 0xec, 0x41, 0x55 },
		{ 0x50, 0x55, 0x48, 0x89, 0xe5, 0x41, 0x55 },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(encodings); i++) {
		const uint8_t *at = memmem(bytes, len, encodings[i], sizeof(encodings[i]));

		if (at)
			return (uint32_t)(at - bytes);
	}
	return 0;
}

/* An entry, or their end: its code is then empty. False: there is no more room. */
static bool add_entry(const struct codelets *c, struct wire_jvm *wire, uint32_t first,
		      const struct codelet *codelet)
{
	uint32_t at = codelet->start + (codelet->is_entry ? c->header : 0);
	uint32_t frame = codelet->is_entry ? find_frame(c->bytes + at, codelet->end - at) : 0;

	if (at - first + frame > UINT16_MAX)
		return false;
	wire->entries[wire->entry_count++] = (struct wire_entry){
		.start = (uint16_t)(at - first),
		.frame = frame ? (uint16_t)(at - first + frame) : 0,
	};
	return true;
}

/* They lie one after the other in all releases; were there gaps, those behind are left out. */
static int collect(const struct codelets *c, uint64_t start, struct wire_jvm *wire)
{
	struct codelet codelet = { 0 };
	unsigned int count = 0;
	uint32_t first = 0;

	for (uint32_t at = 0; at < c->used; at = codelet.end) {
		int r = count++ < MAX_CODELETS ? codelets_get(c, at, &codelet) : -EBADMSG;

		if (r < 0)
			return r;
		if (codelet.is_entry && !wire->entry_count) {
			first = at + c->header;
			wire->entries_start = start + first;
		}
		if (wire->entry_count == WIRE_JVM_ENTRIES - 1)
			codelet.is_entry = false;
		if (codelet.is_entry && !add_entry(c, wire, first, &codelet))
			codelet.is_entry = false;
		if (codelet.is_entry || !wire->entry_count)
			continue;
		if (!add_entry(c, wire, first, &codelet))
			wire->entry_count = 0;
		return 0;
	}
	codelet = (struct codelet){ .start = c->used, .end = c->used };
	if (wire->entry_count && !add_entry(c, wire, first, &codelet))
		wire->entry_count = 0;
	return 0;
}

static int read_codelets(const struct vmstructs *vs, uint64_t start, struct codelets *c,
			 struct wire_jvm *wire)
{
	const struct vm_memory *memory = vmstructs_memory(vs);
	int r = codelets_find_fields(vs, c);

	if (!r)
		r = vm_memory_read(memory, start, c->bytes, c->used);
	return r < 0 ? r : collect(c, start, wire);
}

int jvm_entries_read(const struct vmstructs *vs, uint64_t start, uint32_t used,
		     struct wire_jvm *wire, struct err *err)
{
	_cleanup_(vm_pages_freep) struct vm_pages *pages = vm_pages_new(vmstructs_memory(vs));
	struct codelets c = { .pages = pages, .used = used };
	int r;

	wire->entry_count = 0;
	wire->entries_start = 0;
	if (used > MAX_USED_BYTES)
		return err_set(err, -EBADMSG, "the interpreter has an impossible size");
	c.bytes = xmalloc(used + 1);
	r = read_codelets(vs, start, &c, wire);
	free(c.bytes);
	if (r == -ENODATA)
		return 0;
	return r < 0 ? err_sys(err, r, "cannot read the interpreter's codelets") : 0;
}
