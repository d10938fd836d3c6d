/* SPDX-License-Identifier: Apache-2.0 */
/* Debug information of a fabricated nmethod, in each of the places where releases keep it. */
#ifndef HOSTPROF_TESTS_SCOPES_FIXTURE_H
#define HOSTPROF_TESTS_SCOPES_FIXTURE_H

#include "code_fixture.h"
#include "jvm/names/scopes_layout.h"

/* Of the blob; the fields lie where nothing of code_layout_17 does. */
#define SCOPES_CODE_OFFSET 400
#define SCOPES_AT	   600
#define METHODS_AT	   560
#define PCS_AT		   700

static const struct scopes_layout scopes_layouts[] = {
	{ SCOPES_IN_BLOB, 200, 204, 208, 212, 0, 0, 0, 16, 0, 4 },
	{ SCOPES_BY_POINTER, 200, 204, 208, 216, 0, 0, 0, 16, 0, 4 },
	{ SCOPES_IN_BLOCK, 200, 204, 204, 212, 216, 224, 232, 16, 0, 4 },
};

struct scopes_bytes {
	uint8_t data[4096];
	size_t len;
	uint8_t bias;
};

/* UNSIGNED5, as share/utilities/unsigned5.hpp writes it. */
static inline void scopes_add(struct scopes_bytes *s, uint32_t value)
{
	while (value >= 192U - s->bias) {
		uint32_t rest = value - (192U - s->bias);

		s->data[s->len++] = (uint8_t)(192 + rest % 64);
		value = rest / 64;
	}
	s->data[s->len++] = (uint8_t)(value + s->bias);
}

/* A scope; its offset. Behind what is looked at lie locals and monitors. */
static inline uint32_t scopes_add_scope(struct scopes_bytes *s, uint32_t sender, uint32_t item,
					int32_t bci)
{
	uint32_t at;

	if (!s->len)
		s->data[s->len++] = 0xff; /* offset 0 is none */
	at = (uint32_t)s->len;
	scopes_add(s, sender);
	scopes_add(s, item);
	scopes_add(s, (uint32_t)(bci + 1));
	scopes_add(s, 0);
	return at;
}

struct scopes_pc {
	int32_t offset;
	uint32_t scope;
};

struct scopes_info {
	const struct scopes_layout *layout;
	const struct scopes_bytes *bytes;
	const struct scopes_pc *pcs;
	size_t pc_count;
	const uint64_t *methods;
	size_t method_count;
};

static inline void scopes_put_pcs(struct code_fixture *f, uint64_t at, const struct scopes_info *i)
{
	for (size_t n = 0; n < i->pc_count; n++) {
		put_u32(f, at + 16 * n, (uint32_t)i->pcs[n].offset);
		put_u32(f, at + 16 * n + 4, i->pcs[n].scope);
	}
}

/* Into BLOB, an nmethod of 8 segments, or beside it. */
static inline void scopes_put(struct code_fixture *f, uint64_t blob, const struct scopes_info *i)
{
	const struct scopes_layout *l = i->layout;
	uint64_t block = blob, methods = blob + METHODS_AT;
	uint32_t pcs = PCS_AT, scopes = SCOPES_AT, pc_bytes = (uint32_t)(16 * i->pc_count);

	f->layout.wire.code_begin = 32;
	f->layout.wire.code_begin_kind = WIRE_CODE_BEGIN_OFFSET;
	put_u32(f, blob + 32, SCOPES_CODE_OFFSET);
	put_u32(f, blob + l->methods, METHODS_AT);
	if (l->place == SCOPES_IN_BLOCK) {
		block = fake_alloc(&f->fake, 8192);
		methods = fake_alloc(&f->fake, 256) + 64;
		pcs = 24;
		scopes = pcs + pc_bytes;
		put_u32(f, blob + l->methods, 64);
		fake_put_u64(&f->fake, blob + l->block, block);
		put_u32(f, blob + l->block_bytes, scopes + (uint32_t)i->bytes->len);
		fake_put_u64(&f->fake, blob + l->methods_block, methods - 64);
	} else {
		/* The scopes end where the pcs begin. */
		scopes = PCS_AT - (uint32_t)i->bytes->len;
		put_u32(f, blob + l->pcs_end, pcs + pc_bytes);
	}
	put_u32(f, blob + l->pcs, pcs);
	if (l->place == SCOPES_BY_POINTER)
		fake_put_u64(&f->fake, blob + l->scopes, blob + scopes);
	else
		put_u32(f, blob + l->scopes, scopes);
	scopes_put_pcs(f, block + pcs, i);
	fake_put(&f->fake, block + scopes, i->bytes->data, i->bytes->len);
	for (size_t n = 0; n < i->method_count; n++)
		fake_put_u64(&f->fake, methods + 8 * n, i->methods[n]);
}

#endif
