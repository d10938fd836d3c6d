/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of places in compiled code, with what was inlined there. */
#include "test.h"

#include <errno.h>

#include "jvm/names/chain_names.h"
#include "jvm/names/code_names.h"
#include "scopes_fixture.h"

#define LEVELS 20

static struct java_answer answer;

struct fixture {
	struct code_fixture code;
	struct method_names *methods;
	struct code_names *names;
	uint64_t nmethod;
	uint64_t method[2];
	struct scopes_bytes bytes;
	struct scopes_pc pcs[LEVELS + 2];
	struct scopes_info info;
};

static struct fixture f;

/* 20 bytecodes; with a table, line 40 at the first, 41 from 4 on. */
static void give_code(uint64_t method, bool lines)
{
	static const uint8_t table[] = { 0xff, 0, 80, 4 << 3 | 1, 0 };
	const struct jvm_layout *l = &f.code.layout;
	uint64_t const_method;

	memcpy(&const_method, f.code.fake.bytes + (method + l->method_const_method - FAKE_BASE),
	       sizeof(const_method));
	fake_put_u16(&f.code.fake, const_method + l->const_method_flags, lines);
	fake_put_u16(&f.code.fake, const_method + l->const_method_code_size, 20);
	put_u32(&f.code, const_method + l->const_method_size_words, 10);
	fake_put(&f.code.fake, const_method + l->const_method_bytes + 20, table, sizeof(table));
}

/* work() at each place one level deeper in itself; its outermost is run(). */
static int set_up(void **state)
{
	uint32_t sender = 0;

	(void)state;
	memset(&f, 0, sizeof(f));
	code_fixture_init(&f.code, &code_layout_17);
	f.method[0] = code_fixture_method(&f.code, "pkg/Work", "run");
	f.method[1] = code_fixture_method(&f.code, "pkg/Work", "work");
	give_code(f.method[0], false);
	give_code(f.method[1], true);
	f.nmethod = code_fixture_nmethod(&f.code, 4, 16, f.method[0], 77);
	for (unsigned int level = 0; level < LEVELS; level++) {
		sender = scopes_add_scope(&f.bytes, sender, level ? 2 : 1, level ? (int)level : 7);
		f.pcs[level + 1] = (struct scopes_pc){ (int32_t)level * 10, sender };
	}
	f.pcs[0].offset = -1;
	f.info = (struct scopes_info){
		&scopes_layouts[0], &f.bytes, f.pcs, LEVELS + 1, f.method, 2
	};
	scopes_put(&f.code, f.nmethod, &f.info);
	f.methods = method_names_new(&f.code.fake.memory, &f.code.layout);
	f.names =
		code_names_new(&f.code.fake.memory, &f.code.layout, &scopes_layouts[0], f.methods);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	code_names_free(f.names);
	method_names_free(f.methods);
	return 0;
}

static int find(int offset)
{
	return code_names_find(f.names, f.nmethod + SCOPES_CODE_OFFSET + (uint64_t)offset, 77,
			       &answer);
}

static void assert_frame(unsigned int at, const char *method, int bci, int line, bool inlined)
{
	const struct java_frame *frame = &answer.frames[at];
	char descriptor[64];

	assert_true(at < answer.count);
	snprintf(descriptor, sizeof(descriptor), "()L%s;", method);
	assert_string_equal(frame->descriptor, descriptor);
	assert_string_equal(frame->class_name, "pkg.Work");
	assert_string_equal(frame->method, method);
	assert_int_equal(frame->bci, bci);
	assert_int_equal(frame->line, line);
	assert_int_equal(frame->inlined, inlined);
}

static void each_place_has_its_chain(void **state)
{
	(void)state;
	for (unsigned int turn = 0; turn < 2; turn++)
		for (unsigned int level = LEVELS; level-- > 0;) {
			assert_int_equal(find((int)level * 10), 0);
			assert_null(answer.stub);
			assert_int_equal(answer.count, level + 1);
			for (unsigned int i = 0; i < level; i++)
				assert_frame(i, "work", (int)(level - i), level - i >= 4 ? 41 : 40,
					     true);
			assert_frame(level, "run", 7, 0, false);
		}
	/* Behind the last one it is its method, somewhere. */
	assert_int_equal(find(LEVELS * 10), 0);
	assert_int_equal(answer.count, 1);
	assert_frame(0, "run", -1, 0, false);
}

static void a_known_place_costs_no_reads(void **state)
{
	unsigned int reads;

	(void)state;
	assert_int_equal(find(50), 0);
	reads = f.code.fake.reads;
	assert_int_equal(find(50), 0);
	assert_int_equal(find(49), 0);
	assert_int_equal(f.code.fake.reads, reads);
	/* What a new place shares with it is not read again; the many go the way in few reads. */
	assert_int_equal(find(51), 0);
	assert_true(f.code.fake.reads > reads);
	reads = f.code.fake.reads;
	assert_int_equal(find(190), 0);
	assert_in_range(f.code.fake.reads - reads, 1, 12);
}

/* Of unknown code all at once, and then of code that is known in part. */
static void places_that_are_met_together(void **state)
{
	struct code_place places[LEVELS];
	unsigned int reads;

	(void)state;
	for (unsigned int level = 0; level < LEVELS; level++)
		places[level] =
			(struct code_place){ f.nmethod + SCOPES_CODE_OFFSET + level * 10UL, 77 };
	code_names_meet(f.names, places, 3);
	code_names_meet(f.names, places, LEVELS);
	reads = f.code.fake.reads;
	for (unsigned int level = 0; level < LEVELS; level++) {
		assert_int_equal(find((int)level * 10), 0);
		assert_int_equal(answer.count, level + 1);
		assert_frame(level, "run", 7, 0, false);
		if (level)
			assert_frame(0, "work", (int)level, level >= 4 ? 41 : 40, true);
	}
	assert_int_equal(f.code.fake.reads, reads);
	/* What is gone meanwhile gets no more of them; what was known of it stays. */
	f.names = (code_names_free(f.names), code_names_new(&f.code.fake.memory, &f.code.layout,
							    &scopes_layouts[0], f.methods));
	code_names_meet(f.names, places, 3);
	code_fixture_free(&f.code, 4);
	code_names_meet(f.names, places, LEVELS);
	assert_int_equal(find(20), 0);
	assert_int_equal(answer.count, 3);
	assert_int_equal(find(30), 0);
	assert_int_equal(answer.count, 1);
	assert_frame(0, "run", -1, 0, false);
}

static void what_has_a_name_is_not_wanted(void **state)
{
	struct chain_wants wants = { .places = VEC_INIT };
	struct text_pool texts = { .bytes = 0 };
	struct chain_names chain;

	(void)state;
	chain_names_init(&chain, f.method[0], NULL);
	chain_names_want(&chain, f.nmethod, &wants);
	chain_names_want(&chain, f.nmethod, &wants);
	assert_int_equal(wants.places.len, 1);
	chain_wants_read(&wants, f.methods, &texts);
	assert_int_equal(chain.count, 1);
	wants.places.len = wants.methods.len = 0;
	chain_names_want(&chain, f.nmethod, &wants);
	assert_int_equal(wants.places.len, 0);
	chain_wants_release(&wants);
	chain_names_release(&chain, &texts);
	text_pool_release(&texts);
}

static void places_of_code_that_is_gone(void **state)
{
	(void)state;
	assert_int_equal(find(50), 0);
	code_fixture_free(&f.code, 4);
	assert_int_equal(find(50), 0);
	assert_int_equal(answer.count, 6);
	/* Nobody saw this one: of it only the method is left. */
	for (unsigned int turn = 0; turn < 2; turn++) {
		assert_int_equal(find(100), 0);
		assert_int_equal(answer.count, 1);
		assert_frame(0, "run", -1, 0, false);
	}
}

/* A process that cannot be read just now: what is FORBIDDEN on. */
static uint64_t forbidden, forbidden_end;

static int refusing_read(const struct vm_memory *memory, const struct vm_span *spans,
			 unsigned int count)
{
	const struct vm_memory *fake = &f.code.fake.memory;

	(void)memory;
	for (unsigned int i = 0; i < count; i++)
		if (spans[i].address < forbidden_end && forbidden < spans[i].address + spans[i].len)
			return -EBUSY;
	return fake->read(fake, spans, count);
}

static void forbid(uint64_t from, uint64_t end)
{
	forbidden = from;
	forbidden_end = end;
}

/* What was inlined is not lost for good when its names, or all of the debug information, could not be read the first time. */
static void what_cannot_be_read_just_now(void **state)
{
	const struct vm_memory memory = { .read = refusing_read };
	const uint64_t places[] = { f.nmethod + PCS_AT, f.method[1] };

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(places); i++) {
		code_names_free(f.names);
		method_names_free(f.methods);
		f.methods = method_names_new(&memory, &f.code.layout);
		f.names = code_names_new(&memory, &f.code.layout, &scopes_layouts[0], f.methods);
		/* Of the same nmethod another place is known: its method's name is. */
		forbid(0, 0);
		if (i)
			assert_int_equal(find(0), 0);
		forbid(places[i], places[i] + 16);
		assert_true(find(50) < 0);
		forbid(0, 0);
		assert_int_equal(find(50), 0);
		assert_int_equal(answer.count, 6);
		assert_frame(0, "work", 5, 41, true);
	}
}

static void another_ones_scopes_say_nothing(void **state)
{
	(void)state;
	f.method[0] = code_fixture_method(&f.code, "Other", "other");
	scopes_put(&f.code, f.nmethod, &f.info);
	assert_int_equal(find(50), 0);
	assert_int_equal(answer.count, 1);
	assert_frame(0, "run", -1, 0, false);
}

/* An inlined method that cannot be read costs the chain, not the name. */
static void a_method_that_is_none(void **state)
{
	(void)state;
	f.method[1] = FAKE_BASE + FAKE_BYTES + 4096;
	scopes_put(&f.code, f.nmethod, &f.info);
	assert_int_equal(find(50), 0);
	assert_int_equal(answer.count, 1);
	assert_frame(0, "run", -1, 0, false);
	assert_int_equal(find(0), 0);
	assert_frame(0, "run", 7, 0, false);
}

static void a_bytecode_that_the_method_does_not_have(void **state)
{
	(void)state;
	f.pcs[1].scope = scopes_add_scope(&f.bytes, 0, 1, 20); /* of 20 */
	scopes_put(&f.code, f.nmethod, &f.info);
	assert_int_equal(find(0), 0);
	assert_int_equal(answer.count, 1);
	assert_frame(0, "run", -1, 0, false);
}

/* What the names of places take counts. */
static void places_take_room(void **state)
{
	unsigned int reads;

	(void)state;
	code_names_limit(f.names, 1800);
	for (uint32_t id = 100; id < 120; id++) {
		put_u32(&f.code, f.nmethod + f.code.layout.wire.compile_id, id);
		assert_int_equal(
			code_names_find(f.names, f.nmethod + SCOPES_CODE_OFFSET, id, &answer), 0);
	}
	reads = f.code.fake.reads;
	assert_int_equal(code_names_find(f.names, f.nmethod + SCOPES_CODE_OFFSET, 118, &answer), 0);
	assert_int_equal(f.code.fake.reads, reads); /* it is known still */
	assert_int_equal(
		code_names_find(f.names, f.nmethod + SCOPES_CODE_OFFSET + 190, 119, &answer), 0);
	/* That one grew: the others had to go. */
	assert_int_equal(code_names_find(f.names, f.nmethod + SCOPES_CODE_OFFSET, 118, &answer),
			 -ESTALE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_place_has_its_chain, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_known_place_costs_no_reads, set_up, tear_down),
		cmocka_unit_test_setup_teardown(places_that_are_met_together, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_has_a_name_is_not_wanted, set_up, tear_down),
		cmocka_unit_test_setup_teardown(places_of_code_that_is_gone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(what_cannot_be_read_just_now, set_up, tear_down),
		cmocka_unit_test_setup_teardown(another_ones_scopes_say_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_method_that_is_none, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_bytecode_that_the_method_does_not_have, set_up,
						tear_down),
		cmocka_unit_test_setup_teardown(places_take_room, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
