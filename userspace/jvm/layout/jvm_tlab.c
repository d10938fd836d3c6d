/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/layout/jvm_tlab.h"

#include <errno.h>
#include <stddef.h>

#include "base/macros.h"

/* A Thread has up to 2 kB, a TLAB of it 128 bytes. */
#define MAX_OFFSET 16384

/* share/gc/shared/threadLocalAllocBuffer.hpp; JDK 28 calls the refills otherwise. */
static const struct {
	const char *field, *newer;
	size_t slot; /* in struct wire_tlab */
} wanted[] = {
	{ "_start", NULL, offsetof(struct wire_tlab, start) },
	{ "_top", NULL, offsetof(struct wire_tlab, top) },
	{ "_end", NULL, offsetof(struct wire_tlab, end) },
	{ "_desired_size", NULL, offsetof(struct wire_tlab, desired) },
	{ "_number_of_refills", "_num_refills", offsetof(struct wire_tlab, refills) },
};

static int find_offset(const struct vmstructs *vs, const char *type, const char *field,
		       uint64_t base, uint16_t *ret_offset, struct err *err)
{
	uint64_t offset;

	if (vmstructs_field_offset(vs, type, field, &offset) < 0)
		return err_set(err, -EOPNOTSUPP, "this JVM's VMStructs have no %s.%s", type, field);
	if (offset > MAX_OFFSET || base + offset > MAX_OFFSET)
		return err_set(err, -EBADMSG, "%s.%s lies at an impossible offset", type, field);
	*ret_offset = (uint16_t)(base + offset);
	return 0;
}

int jvm_tlab_read(const struct vmstructs *vs, uint32_t feature, struct wire_tlab *ret_tlab,
		  struct err *err)
{
	/* CollectedHeap::allocate_from_tlab_slow() of JDK 8 tells before it fills the TLAB. */
	struct wire_tlab tlab = { .before = feature == 8 };
	struct err ignored = { 0 };
	uint16_t base;
	int r = find_offset(vs, "Thread", "_tlab", 0, &base, err);

	if (!r)
		r = find_offset(vs, "Thread", "_allocated_bytes", 0, &tlab.allocated, err);
	for (size_t i = 0; !r && i < ARRAY_SIZE(wanted); i++) {
		uint16_t *slot = (uint16_t *)(void *)((char *)&tlab + wanted[i].slot);

		if (wanted[i].newer && !find_offset(vs, "ThreadLocalAllocBuffer", wanted[i].newer,
						    base, slot, &ignored))
			continue;
		r = find_offset(vs, "ThreadLocalAllocBuffer", wanted[i].field, base, slot, err);
	}
	if (!r)
		*ret_tlab = tlab;
	return r;
}
