/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>

#include "code_fixture.h"
#include "jvm/names/code_names.h"

static const struct scopes_layout no_scopes = { .place = SCOPES_UNKNOWN };

static struct java_answer answer;

struct fixture {
	struct code_fixture code;
	struct method_names *methods;
	struct code_names *names;
	uint64_t method, nmethod;
};

static int setup(void **state)
{
	static struct fixture f;

	code_fixture_init(&f.code, &code_layout_17);
	f.code.layout.wire.call_stub_return = 0x7f0000000100ULL;
	f.code.layout.wire.interpreter_start = 0x7f0000000200ULL;
	f.code.layout.wire.interpreter_end = 0x7f0000000300ULL;
	f.methods = method_names_new(&f.code.fake.memory, &f.code.layout);
	f.names = code_names_new(&f.code.fake.memory, &f.code.layout, &no_scopes, f.methods);
	f.method = code_fixture_method(&f.code, "pkg/Work$$Lambda+0x00007f1c", "run");
	f.nmethod = code_fixture_nmethod(&f.code, 4, 8, f.method, 77);
	*state = &f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	code_names_free(f->names);
	method_names_free(f->methods);
	return 0;
}

static void assert_method(struct fixture *f, uint64_t address, uint32_t id, const char *expected)
{
	char text[128];

	assert_int_equal(code_names_find(f->names, address, id, &answer), 0);
	assert_null(answer.stub);
	assert_int_equal(answer.count, 1);
	snprintf(text, sizeof(text), "%s %s", answer.frames[0].class_name, answer.frames[0].method);
	assert_string_equal(text, expected);
	assert_int_equal(answer.frames[0].bci, -1);
	assert_int_equal(answer.frames[0].line, 0);
	assert_false(answer.frames[0].inlined);
}

static void assert_stub(struct fixture *f, uint64_t address, uint32_t id, const char *expected)
{
	assert_int_equal(code_names_find(f->names, address, id, &answer), 0);
	assert_string_equal(answer.stub, expected);
}

static void assert_fails(struct fixture *f, uint64_t address, uint32_t id, int expected)
{
	assert_int_equal(code_names_find(f->names, address, id, &answer), expected);
}

static void names_an_nmethod(void **state)
{
	struct fixture *f = *state;

	assert_method(f, f->nmethod + 500, 77, "pkg.Work$$Lambda/0x00007f1c run");
}

static void known_code_costs_no_reads(void **state)
{
	struct fixture *f = *state;
	unsigned int reads;

	assert_method(f, f->nmethod + 500, 77, "pkg.Work$$Lambda/0x00007f1c run");
	reads = f->code.fake.reads;
	assert_method(f, f->nmethod + 500, 77, "pkg.Work$$Lambda/0x00007f1c run");
	assert_method(f, f->nmethod + 600, 77, "pkg.Work$$Lambda/0x00007f1c run");
	assert_int_equal(f->code.fake.reads, reads);
}

/* What was read when a sample arrived is there when it is applied. */
static void code_that_is_gone_keeps_its_name(void **state)
{
	struct fixture *f = *state;
	uint64_t other = code_fixture_method(&f->code, "Other", "work");

	assert_method(f, f->nmethod + 500, 77, "pkg.Work$$Lambda/0x00007f1c run");
	code_fixture_nmethod(&f->code, 4, 8, other, 78);
	assert_method(f, f->nmethod + 500, 77, "pkg.Work$$Lambda/0x00007f1c run");
	assert_method(f, f->nmethod + 500, 78, "Other work");
	memset(f->code.fake.bytes, 0, sizeof(f->code.fake.bytes));
	assert_method(f, f->nmethod + 500, 77, "pkg.Work$$Lambda/0x00007f1c run");
	assert_method(f, f->nmethod + 500, 78, "Other work");
}

static void other_code_has_no_say(void **state)
{
	struct fixture *f = *state;

	assert_fails(f, f->nmethod + 500, 76, -ESTALE);
	code_fixture_free(&f->code, 4);
	assert_fails(f, f->nmethod + 500, 77, -ESTALE);
}

/* Of an nmethod that was elsewhere. */
static void an_id_holds_for_its_code_only(void **state)
{
	struct fixture *f = *state;

	assert_method(f, f->nmethod + 500, 77, "pkg.Work$$Lambda/0x00007f1c run");
	assert_fails(f, f->nmethod + 8ULL * SEGMENT_BYTES, 77, -ESTALE);
}

static void an_unloaded_method(void **state)
{
	struct fixture *f = *state;

	fake_put_u64(&f->code.fake, f->nmethod + f->code.layout.nmethod_method, 0);
	assert_fails(f, f->nmethod + 500, 77, -ESTALE);
	fake_put_u64(&f->code.fake, f->nmethod + f->code.layout.nmethod_method, f->method + 4);
	assert_fails(f, f->nmethod + 500, 77, -EBADMSG);
}

static void names_a_stub(void **state)
{
	struct fixture *f = *state;
	uint64_t stub = code_fixture_blob(&f->code, 20, 6, "vtable chunks", KIND_STUB);

	put_u32(&f->code, stub + f->code.layout.wire.compile_id, 0x90909090);
	assert_stub(f, stub + 200, 0x90909090, "vtable chunks");
	assert_stub(f, stub + 200, 0x90909090, "vtable chunks");
	assert_stub(f, f->code.layout.wire.call_stub_return, 1, "call_stub");
	assert_stub(f, f->code.layout.wire.interpreter_start, 0, "Interpreter");
	assert_fails(f, f->code.layout.wire.interpreter_end, 0, -ESTALE);
}

/* Of the list of stubs: one blob holds many. */
static void names_the_stubs_of_a_blob(void **state)
{
	struct fixture *f = *state;
	struct jvm_layout *layout = &f->code.layout;
	uint64_t blob = code_fixture_blob(&f->code, 20, 6, "StubRoutines (1)", KIND_STUB);
	uint64_t name = fake_string(&f->code.fake, "libmSin"), head;
	const uint64_t call[] = { 0, name, name, blob + 100, blob + 200, 0 };
	uint64_t words[] = { 0, name, name, blob + 300, blob + 400, 0 };

	/* It lies before them, as the library's pages are searched for it. */
	layout->call_stub_at = fake_alloc(&f->code.fake, sizeof(head));
	f->code.fake.used = (f->code.fake.used + 15) & ~(size_t)15;
	words[0] = fake_add(&f->code.fake, call, sizeof(call));
	head = fake_add(&f->code.fake, words, sizeof(words));
	fake_put_u64(&f->code.fake, layout->call_stub_at, head);
	layout->wire.call_stub_return = blob + 150;
	layout->wire.code_start = f->code.heap;
	layout->wire.code_end = f->code.heap + (uint64_t)SEGMENTS * SEGMENT_BYTES;
	code_names_free(f->names);
	f->names = code_names_new(&f->code.fake.memory, layout, &no_scopes, f->methods);
	put_u32(&f->code, blob + layout->wire.compile_id, 5);
	assert_stub(f, blob + 350, 5, "libmSin");
	assert_stub(f, blob + 450, 5, "StubRoutines (1)");
	assert_stub(f, blob + 350, 5, "libmSin");
	assert_fails(f, blob + 351, 6, -ESTALE);
}

/* A stub must not name the nmethod whose place it took. */
static void a_stub_in_the_place_of_an_nmethod(void **state)
{
	struct fixture *f = *state;
	uint64_t stub = code_fixture_blob(&f->code, 4, 8, "I2C/C2I adapters", KIND_STUB);

	put_u32(&f->code, stub + f->code.layout.wire.compile_id, 0xcccccccc);
	assert_fails(f, f->nmethod + 500, 77, -ESTALE);
	assert_stub(f, f->nmethod + 500, 0xcccccccc, "I2C/C2I adapters");
}

/* The compile id of what was here is still there. */
static void a_buffer_in_the_place_of_an_nmethod(void **state)
{
	struct fixture *f = *state;

	code_fixture_blob(&f->code, 4, 8, "Compile::scratch_buffer", KIND_STUB);
	assert_fails(f, f->nmethod + 500, 77, -ESTALE);
	code_fixture_blob(&f->code, 4, 8, "C1 temporary CodeBuffer", KIND_STUB);
	assert_fails(f, f->nmethod + 500, 77, -ESTALE);
}

/* Buffers of compilers are never run, and are told by how their names begin. */
static void buffers_of_compilers(void **state)
{
	static const struct {
		const char *name;
		bool is;
	} cases[] = {
		{ "Compile::work_debug_info", true },
		{ "C1 temporary CodeBuffer", true },
		{ "Signature Handler Temp Buffer", true },
		{ "JVMCI Compiler CodeBuffer", true },
		{ "Compile:", false },
		{ "A Compile::", false },
		{ "SignatureHandlers", false },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t at = code_fixture_blob(&f->code, 20, 6, cases[i].name, KIND_STUB);
		uint32_t id = 500 + (uint32_t)i;

		put_u32(&f->code, at + f->code.layout.wire.compile_id, id);
		if (cases[i].is)
			assert_fails(f, at + 200, id, -ESTALE);
		else
			assert_stub(f, at + 200, id, cases[i].name);
	}
}

/* To the byte, where places that the layout knows begin and end. */
static void places_of_the_layout(void **state)
{
	struct fixture *f = *state;
	struct jvm_layout layout = f->code.layout;
	struct code_names *names;

	assert_stub(f, f->code.layout.wire.interpreter_end - 1, 9, "Interpreter");
	assert_fails(f, f->code.layout.wire.interpreter_start - 1, 9, -ESTALE);
	assert_fails(f, f->code.layout.wire.call_stub_return + 1, 9, -ESTALE);
	/* A layout that knows of no call stub has none at 0. */
	layout.wire.call_stub_return = 0;
	names = code_names_new(&f->code.fake.memory, &layout, &no_scopes, f->methods);
	assert_int_equal(code_names_find(names, 0, 0, &answer), -ESTALE);
	assert_null(answer.stub);
	code_names_free(names);
}

/* A stub that was read is known at each of its addresses by what stood for its id. */
static void a_stub_is_known_by_address_and_id(void **state)
{
	struct fixture *f = *state;
	uint64_t stub = code_fixture_blob(&f->code, 20, 6, "stub", KIND_STUB);
	unsigned int reads;

	put_u32(&f->code, stub + f->code.layout.wire.compile_id, 5);
	assert_stub(f, stub + 200, 5, "stub");
	reads = f->code.fake.reads;
	assert_stub(f, stub + 200, 5, "stub");
	assert_int_equal(f->code.fake.reads, reads);
	assert_fails(f, stub + 200, 6, -ESTALE);
	assert_true(f->code.fake.reads > reads);
	/* An nmethod's id of the same number is another matter. */
	put_u32(&f->code, f->nmethod + f->code.layout.wire.compile_id, 5);
	assert_method(f, f->nmethod + 500, 5, "pkg.Work$$Lambda/0x00007f1c run");
	assert_stub(f, stub + 200, 5, "stub");
}

/* Of many JVMs each may keep less. */
static void the_limit_can_be_lowered(void **state)
{
	struct fixture *f = *state;
	const uint64_t id_at = f->nmethod + f->code.layout.wire.compile_id;

	code_names_limit(f->names, 4096);
	for (uint32_t id = 100; id < 200; id++) {
		put_u32(&f->code, id_at, id);
		assert_method(f, f->nmethod + 500, id, "pkg.Work$$Lambda/0x00007f1c run");
	}
	memset(f->code.fake.bytes, 0, sizeof(f->code.fake.bytes));
	assert_method(f, f->nmethod + 500, 199, "pkg.Work$$Lambda/0x00007f1c run");
	assert_fails(f, f->nmethod + 500, 100, -ESTALE); /* it was forgotten */
}

/* The same of stubs. */
static void the_limit_is_of_stubs_too(void **state)
{
	struct fixture *f = *state;
	uint64_t stub = code_fixture_blob(&f->code, 20, 6, "stub", KIND_STUB);

	code_names_limit(f->names, 4096);
	for (uint32_t id = 100; id < 200; id++) {
		put_u32(&f->code, stub + f->code.layout.wire.compile_id, id);
		assert_stub(f, stub + 200, id, "stub");
	}
	memset(f->code.fake.bytes, 0, sizeof(f->code.fake.bytes));
	assert_stub(f, stub + 200, 199, "stub");
	assert_fails(f, stub + 200, 100, -ESTALE);
}

/* What is asked for stays; of the rest the newest, up to the limit, and nothing is forgotten in between. */
static void the_least_recently_used_goes(void **state)
{
	struct fixture *f = *state;
	const uint64_t id_at = f->nmethod + f->code.layout.wire.compile_id;
	const size_t limit = 16384, some = 320; /* bytes of an entry at most, with what keeps it */
	uint64_t stub = code_fixture_blob(&f->code, 20, 6, "stub", KIND_STUB);
	uint32_t id, known = 0;

	code_names_limit(f->names, limit);
	put_u32(&f->code, stub + f->code.layout.wire.compile_id, 5);
	assert_method(f, f->nmethod + 500, 77, "pkg.Work$$Lambda/0x00007f1c run");
	for (id = 100; id < 1000; id++) {
		put_u32(&f->code, id_at, id);
		assert_method(f, f->nmethod + 500, id, "pkg.Work$$Lambda/0x00007f1c run");
		assert_method(f, f->nmethod + 500, 77, "pkg.Work$$Lambda/0x00007f1c run");
		assert_stub(f, stub + 200, 5, "stub");
	}
	memset(f->code.fake.bytes, 0, sizeof(f->code.fake.bytes));
	assert_method(f, f->nmethod + 500, 77, "pkg.Work$$Lambda/0x00007f1c run");
	assert_stub(f, stub + 200, 5, "stub");
	while (--id >= 100 && !code_names_find(f->names, f->nmethod + 500, id, &answer))
		known++;
	assert_true(known > limit / some && known < limit / sizeof(uint64_t[5]));
	for (; id >= 100; id--)
		assert_fails(f, f->nmethod + 500, id, -ESTALE);
	/* Less may be kept at once, and one in any case. */
	code_names_limit(f->names, 0);
	assert_fails(f, f->nmethod + 500, 999, -ESTALE);
	assert_fails(f, f->nmethod + 500, 77, -ESTALE);
}

/* Code comes and goes: the JVM has any number of ids, the cache has a limit. */
static void the_cache_is_bounded(void **state)
{
	struct fixture *f = *state;
	const uint64_t id_at = f->nmethod + f->code.layout.wire.compile_id;
	unsigned int reads = 0;

	for (uint32_t id = 100; id < 150000; id++) {
		put_u32(&f->code, id_at, id);
		assert_method(f, f->nmethod + 500, id, "pkg.Work$$Lambda/0x00007f1c run");
	}
	put_u32(&f->code, id_at, 100);
	reads = f->code.fake.reads;
	assert_method(f, f->nmethod + 500, 149999, "pkg.Work$$Lambda/0x00007f1c run");
	assert_int_equal(f->code.fake.reads, reads);
	assert_method(f, f->nmethod + 500, 100, "pkg.Work$$Lambda/0x00007f1c run");
	assert_true(f->code.fake.reads > reads); /* it was forgotten */
}

/* A JVM that puts another method there after the N-th read. */
static struct fixture *changing;
static unsigned int change_after;
static uint64_t change_to;

static int changing_read(const struct vm_memory *memory, const struct vm_span *spans,
			 unsigned int count)
{
	const struct vm_memory *fake = &changing->code.fake.memory;
	int r = fake->read(fake, spans, count);

	(void)memory;
	if (changing->code.fake.reads == change_after)
		code_fixture_nmethod(&changing->code, 4, 8, change_to, 78);
	return r;
}

/* Whenever it happens: the id's own name, or none. */
static void code_that_changes_while_it_is_read(void **state)
{
	struct fixture *f = *state;
	const struct vm_memory memory = { .read = changing_read };
	unsigned int named = 0, refused = 0;

	changing = f;
	change_to = code_fixture_method(&f->code, "Other", "work");
	for (change_after = 1; change_after < 30; change_after++) {
		struct method_names *methods = method_names_new(&memory, &f->code.layout);
		struct code_names *names =
			code_names_new(&memory, &f->code.layout, &no_scopes, methods);
		int r;

		code_fixture_nmethod(&f->code, 4, 8, f->method, 77);
		f->code.fake.reads = 0;
		r = code_names_find(names, f->nmethod + 500, 77, &answer);
		if (r == 0)
			assert_string_equal(answer.frames[0].class_name,
					    "pkg.Work$$Lambda/0x00007f1c");
		else
			assert_int_equal(r, -ESTALE);
		named += r == 0;
		refused += r != 0;
		code_names_free(names);
		method_names_free(methods);
	}
	assert_true(named > 0 && refused > 3);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(names_an_nmethod),
		TEST(known_code_costs_no_reads),
		TEST(code_that_is_gone_keeps_its_name),
		TEST(other_code_has_no_say),
		TEST(an_id_holds_for_its_code_only),
		TEST(an_unloaded_method),
		TEST(names_a_stub),
		TEST(names_the_stubs_of_a_blob),
		TEST(a_stub_in_the_place_of_an_nmethod),
		TEST(a_buffer_in_the_place_of_an_nmethod),
		TEST(the_cache_is_bounded),
		TEST(the_least_recently_used_goes),
		TEST(buffers_of_compilers),
		TEST(places_of_the_layout),
		TEST(a_stub_is_known_by_address_and_id),
		TEST(code_that_changes_while_it_is_read),
		TEST(the_limit_can_be_lowered),
		TEST(the_limit_is_of_stubs_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
