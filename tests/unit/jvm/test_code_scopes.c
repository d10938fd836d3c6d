/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <stdlib.h>

#include "jvm/names/code_scopes.h"
#include "scopes_fixture.h"

#define OUTER 0x1111000ULL
#define INNER 0x2222000ULL

struct fixture {
	struct code_fixture code;
	struct code_blob blob;
	struct scopes_bytes bytes;
	struct scopes_pc pcs[8];
	uint64_t methods[4];
	struct scopes_info info;
};

/* OUTER@10, INNER@300 in OUTER@10, OUTER@-1 in INNER@300 in OUTER@10; nothing is known of +9 to +12. */
static void make(struct fixture *f, const struct scopes_layout *layout, uint8_t bias)
{
	uint32_t outer, inner, again;

	memset(f, 0, sizeof(*f));
	code_fixture_init(&f->code, &code_layout_17);
	f->code.layout.unsigned5_bias = f->bytes.bias = bias;
	f->blob.start = code_fixture_nmethod(&f->code, 4, 8, OUTER, 77);
	f->blob.end = f->blob.start + 8UL * SEGMENT_BYTES - f->code.layout.wire.block_header;
	outer = scopes_add_scope(&f->bytes, 0, 3, 10);
	inner = scopes_add_scope(&f->bytes, outer, 1, 300);
	again = scopes_add_scope(&f->bytes, inner, 3, -1);
	f->pcs[0] = (struct scopes_pc){ -1, 0 };
	f->pcs[1] = (struct scopes_pc){ 4, outer };
	f->pcs[2] = (struct scopes_pc){ 8, again };
	f->pcs[3] = (struct scopes_pc){ 12, 0 };
	f->pcs[4] = (struct scopes_pc){ 40, inner };
	f->pcs[5] = (struct scopes_pc){ INT32_MAX, 0 };
	f->methods[0] = INNER;
	f->methods[2] = OUTER;
	f->info = (struct scopes_info){ layout, &f->bytes, f->pcs, 6, f->methods, 3 };
	scopes_put(&f->code, f->blob.start, &f->info);
}

static int read_scopes(struct fixture *f, struct code_scopes **ret)
{
	*ret = NULL;
	return code_scopes_read(&f->code.fake.memory, &f->code.layout, f->info.layout, &f->blob,
				ret);
}

static void assert_chain(const struct code_scopes *scopes, const struct fixture *f, int offset,
			 size_t count, const struct code_node *expected)
{
	uint32_t node = code_scopes_find(scopes, f->blob.start + SCOPES_CODE_OFFSET +
							 (uint64_t)(int64_t)offset);

	for (size_t i = 0; i < count; i++) {
		assert_true(node < scopes->node_count);
		assert_int_equal(scopes->methods[scopes->nodes[node].method], expected[i].method);
		assert_int_equal(scopes->nodes[node].bci, expected[i].bci);
		node = scopes->nodes[node].caller;
	}
	assert_int_equal(node, CODE_NO_NODE);
}

static void every_place_of_every_release(void **state)
{
	static const struct code_node chain[] = { { OUTER, -1, 0 },
						  { INNER, 300, 0 },
						  { OUTER, 10, 0 } };
	static struct fixture f;

	(void)state;
	for (size_t i = 0; i < 2 * ARRAY_SIZE(scopes_layouts); i++) {
		struct code_scopes *scopes;

		make(&f, &scopes_layouts[i / 2], i % 2);
		assert_int_equal(read_scopes(&f, &scopes), 0);
		assert_int_equal(scopes->pc_count, 4);
		assert_int_equal(scopes->node_count, 3);
		assert_int_equal(scopes->method_count, 2);
		assert_chain(scopes, &f, -1, 0, chain);
		assert_chain(scopes, &f, 0, 1, &chain[2]);
		assert_chain(scopes, &f, 4, 1, &chain[2]);
		assert_chain(scopes, &f, 5, 3, chain);
		assert_chain(scopes, &f, 8, 3, chain);
		assert_chain(scopes, &f, 9, 0, chain);
		assert_chain(scopes, &f, 12, 0, chain);
		assert_chain(scopes, &f, 13, 2, &chain[1]);
		assert_chain(scopes, &f, 40, 2, &chain[1]);
		assert_chain(scopes, &f, 41, 0, chain);
		free(scopes);
	}
}

/* Nothing but one scope, which makes no sense. */
static void leave(struct fixture *f, uint32_t sender, uint32_t item, int32_t bci)
{
	f->bytes.len = 0;
	f->pcs[1].scope = scopes_add_scope(&f->bytes, sender, item, bci);
	f->pcs[2].scope = f->pcs[4].scope = 0;
}

/* As Graal has them: before the method, behind it, behind an exception, unknown, of no frame. What lies there has its chain all the same. */
static void places_at_no_bytecode(void **state)
{
	static struct fixture f;
	struct code_scopes *scopes;

	(void)state;
	for (int32_t bci = -6; bci < 0; bci++) {
		const struct code_node chain[] = { { OUTER, -1, 0 } };

		make(&f, &scopes_layouts[0], false);
		leave(&f, 0, 3, bci);
		scopes_put(&f.code, f.blob.start, &f.info);
		assert_int_equal(read_scopes(&f, &scopes), 0);
		assert_chain(scopes, &f, 0, 1, chain);
		free(scopes);
	}
}

static void damage_scope_order(struct fixture *f)
{
	leave(f, 1, 3, 10); /* it is inlined into itself */
}

static void damage_later_sender(struct fixture *f)
{
	leave(f, 5, 3, 10); /* into one that was written later */
	assert_int_equal(scopes_add_scope(&f->bytes, 0, 3, 10), 5);
}

static void damage_item_zero(struct fixture *f)
{
	leave(f, 0, 0, 10);
}

static void damage_item_large(struct fixture *f)
{
	leave(f, 0, 8193, 10);
}

static void damage_bci(struct fixture *f)
{
	leave(f, 0, 3, 65536);
}

static void damage_negative_bci(struct fixture *f)
{
	leave(f, 0, 3, -7);
}

static void damage_pc_order(struct fixture *f)
{
	f->pcs[2].offset = 4;
}

static void damage_scope_outside(struct fixture *f)
{
	f->pcs[2].scope = (uint32_t)f->bytes.len;
}

static void damage_negative_scope(struct fixture *f)
{
	f->pcs[2].scope = 0x80000000;
}

static void (*const damages[])(struct fixture *f) = {
	damage_scope_order, damage_later_sender,  damage_item_zero,
	damage_item_large,  damage_bci,		  damage_negative_bci,
	damage_pc_order,    damage_scope_outside, damage_negative_scope,
};

static void nonsense_is_refused(void **state)
{
	static struct fixture f;
	struct code_scopes *scopes;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(damages); i++) {
		make(&f, &scopes_layouts[0], 1);
		damages[i](&f);
		scopes_put(&f.code, f.blob.start, &f.info);
		assert_int_equal(read_scopes(&f, &scopes), -EBADMSG);
		assert_null(scopes);
	}
}

/* LEVELS, each inlined into the one before; another place is half way. */
static int read_levels(struct fixture *f, unsigned int levels, struct code_scopes **ret)
{
	uint32_t scope = 0;

	make(f, &scopes_layouts[2], 0);
	f->bytes.len = 0;
	for (unsigned int i = 0; i < levels; i++) {
		scope = scopes_add_scope(&f->bytes, scope, 3, 10);
		if (i == levels / 2)
			f->pcs[1].scope = scope;
	}
	f->pcs[2].scope = f->pcs[4].scope = scope;
	scopes_put(&f->code, f->blob.start, &f->info);
	return read_scopes(f, ret);
}

/* A method is read for each, also when the place before had most of them. */
static void chains_have_an_end(void **state)
{
	static struct fixture f;
	struct code_scopes *scopes;

	(void)state;
	assert_int_equal(read_levels(&f, 256, &scopes), 0);
	assert_int_equal(scopes->node_count, 256);
	free(scopes);
	assert_int_equal(read_levels(&f, 257, &scopes), -EBADMSG);
}

/* Fields that do not fit one another, or the blob. */
static void places_that_cannot_be(void **state)
{
	static const struct {
		size_t layout;
		uint32_t field, value;
		int error;
	} cases[] = {
		{ 0, 200, 0xffffffff, -EBADMSG }, { 0, 200, 100, -EBADMSG },
		{ 0, 204, 1100, -EBADMSG },	  { 0, 204, PCS_AT - 1, -EBADMSG },
		{ 0, 208, PCS_AT + 1, -EBADMSG }, { 0, 212, 0xffffffff, -EBADMSG },
		{ 0, 212, PCS_AT, -EBADMSG },	  { 0, 204, PCS_AT + 8, -ENODATA },
		{ 1, 208, 0, -EBADMSG },	  { 2, 200, 0xffffffff, -EBADMSG },
		{ 2, 204, 0, -EBADMSG },	  { 2, 212, 0xffffffff, -EBADMSG },
		{ 2, 224, 0, -EBADMSG },	  { 2, 224, 0x7fffffff, -E2BIG },
		{ 2, 204, 0x7fffffff, -EBADMSG },
	};
	static struct fixture f;
	struct code_scopes *scopes;

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		make(&f, &scopes_layouts[cases[i].layout], 0);
		put_u32(&f.code, f.blob.start + cases[i].field, cases[i].value);
		assert_int_equal(read_scopes(&f, &scopes), cases[i].error);
	}
	/* The block is somewhere that cannot be read, or nowhere. */
	make(&f, &scopes_layouts[2], 0);
	fake_put_u64(&f.code.fake, f.blob.start + 216, 0x10000);
	assert_int_equal(read_scopes(&f, &scopes), -EFAULT);
	fake_put_u64(&f.code.fake, f.blob.start + 216, 0);
	assert_int_equal(read_scopes(&f, &scopes), -EBADMSG);
}

/* To the byte. */
static void a_blob_that_ends_before_its_pcs(void **state)
{
	static struct fixture f;
	struct code_scopes *scopes;

	(void)state;
	make(&f, &scopes_layouts[0], 0);
	f.blob.end = f.blob.start + PCS_AT + 16 * f.info.pc_count - 1;
	assert_int_equal(read_scopes(&f, &scopes), -EBADMSG);
	f.blob.end++;
	assert_int_equal(read_scopes(&f, &scopes), 0);
	free(scopes);
}

static void a_release_that_does_not_say(void **state)
{
	static const struct scopes_layout unknown = { .place = SCOPES_UNKNOWN };
	static struct fixture f;
	struct code_scopes *scopes;

	(void)state;
	make(&f, &scopes_layouts[0], 0);
	f.info.layout = &unknown;
	assert_int_equal(read_scopes(&f, &scopes), -ENODATA);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_place_of_every_release),
		cmocka_unit_test(places_at_no_bytecode),
		cmocka_unit_test(nonsense_is_refused),
		cmocka_unit_test(chains_have_an_end),
		cmocka_unit_test(places_that_cannot_be),
		cmocka_unit_test(a_blob_that_ends_before_its_pcs),
		cmocka_unit_test(a_release_that_does_not_say),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
