/* SPDX-License-Identifier: Apache-2.0 */
/* Much code that is met at once: each has its name, or none, as if it were alone. */
#include "test.h"

#include <errno.h>

#include "code_fixture.h"
#include "jvm/names/code_names.h"
#include "jvm/names/method_chain.h"

#define COUNT	      12
#define NMETHOD_BYTES 4	 /* segments */
#define LATEST	      60 /* all has been read by then */
#define PAGE_BYTES    4096

static const struct scopes_layout no_scopes = { .place = SCOPES_UNKNOWN };

static struct java_answer answer;

static struct {
	struct code_fixture code;
	struct method_names *methods;
	struct code_names *names;
	uint64_t method[COUNT], nmethod[COUNT];
	struct code_place places[COUNT];
} f;

static void new_names(const struct vm_memory *memory)
{
	code_names_free(f.names);
	method_names_free(f.methods);
	f.methods = method_names_new(memory, &f.code.layout);
	f.names = code_names_new(memory, &f.code.layout, &no_scopes, f.methods);
}

static uint64_t name_at(void)
{
	uint64_t address;

	memcpy(&address, f.code.fake.bytes + (f.nmethod[0] + f.code.layout.blob_name - FAKE_BASE),
	       sizeof(address));
	return address;
}

static int set_up(void **state)
{
	(void)state;
	memset(&f, 0, sizeof(f));
	code_fixture_init(&f.code, &code_layout_17);
	for (unsigned int i = 0; i < COUNT; i++) {
		char name[16];

		snprintf(name, sizeof(name), "work%u", i);
		f.method[i] = code_fixture_method(&f.code, i % 2 ? "pkg/Odd" : "pkg/Even", name);
		f.nmethod[i] = code_fixture_nmethod(&f.code, 1 + i * NMETHOD_BYTES, NMETHOD_BYTES,
						    f.method[i], 100 + i);
		/* One constant of libjvm. */
		fake_put_u64(&f.code.fake, f.nmethod[i] + f.code.layout.blob_name, name_at());
		f.places[i] = (struct code_place){ f.nmethod[i] + 350, 100 + i };
	}
	new_names(&f.code.fake.memory);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	code_names_free(f.names);
	method_names_free(f.methods);
	return 0;
}

static int find(unsigned int at)
{
	return code_names_find(f.names, f.places[at].address, f.places[at].compile_id, &answer);
}

static void assert_named(unsigned int at)
{
	char name[16];

	assert_int_equal(find(at), 0);
	assert_null(answer.stub);
	assert_int_equal(answer.count, 1);
	snprintf(name, sizeof(name), "work%u", at);
	assert_string_equal(answer.frames[0].method, name);
	assert_string_equal(answer.frames[0].class_name, at % 2 ? "pkg.Odd" : "pkg.Even");
}

/* But for the one that makes the way known: what nmethods are called is learnt. */
static void all_are_named_in_the_reads_of_one(void **state)
{
	unsigned int alone, together;

	(void)state;
	assert_named(0);
	f.code.fake.reads = 0;
	assert_named(1);
	alone = f.code.fake.reads;
	f.code.fake.reads = 0;
	code_names_meet(f.names, f.places, COUNT);
	together = f.code.fake.reads;
	assert_int_equal(together, alone);
	for (unsigned int i = 0; i < COUNT; i++)
		assert_named(i);
	code_names_meet(f.names, f.places, COUNT);
	assert_int_equal(f.code.fake.reads, together);
}

/* As libjvm's constant lies in a build of JDK 25. */
static void called_by_a_text_in_two_pages(void **state)
{
	uint64_t text = fake_alloc(&f.code.fake, 2 * PAGE_BYTES);
	unsigned int first;

	(void)state;
	text += PAGE_BYTES - text % PAGE_BYTES + PAGE_BYTES - 3;
	fake_put(&f.code.fake, text, "nmethod", sizeof("nmethod"));
	for (unsigned int i = 0; i < COUNT; i++)
		fake_put_u64(&f.code.fake, f.nmethod[i] + f.code.layout.blob_name, text);
	assert_named(0);
	first = f.code.fake.reads;
	f.code.fake.reads = 0;
	code_names_meet(f.names, f.places, COUNT);
	assert_in_range(f.code.fake.reads, 1, first);
	for (unsigned int i = 0; i < COUNT; i++)
		assert_named(i);
}

static void those_that_fail_take_nothing_along(void **state)
{
	(void)state;
	f.places[1].compile_id = 99;
	code_fixture_free(&f.code, 1 + 3 * NMETHOD_BYTES);
	fake_put_u64(&f.code.fake, f.nmethod[5] + f.code.layout.nmethod_method, 0);
	fake_put_u64(&f.code.fake, f.nmethod[7] + f.code.layout.nmethod_method, 0x1000);
	f.places[9].address = f.code.heap + (uint64_t)SEGMENTS * SEGMENT_BYTES;
	code_names_meet(f.names, f.places, COUNT);
	for (unsigned int i = 0; i < COUNT; i += 2)
		assert_named(i);
	assert_named(11);
	for (unsigned int i = 1; i < 7; i += 2)
		assert_int_equal(find(i), -ESTALE);
	assert_int_equal(find(7), -EBADMSG);
	assert_int_equal(find(9), -ESTALE);
}

static uint64_t word_at(uint64_t address)
{
	uint64_t word;

	memcpy(&word, f.code.fake.bytes + (address - FAKE_BASE), sizeof(word));
	return word;
}

/* All odd ones are of one class, all even ones of another: their pools are shared. */
static void share_classes(void)
{
	const struct jvm_layout *l = &f.code.layout;

	for (unsigned int i = 2; i < COUNT; i++) {
		uint64_t mine = word_at(f.method[i] + l->method_const_method);
		uint64_t first = word_at(f.method[i % 2] + l->method_const_method);
		uint64_t pool = word_at(first + l->const_method_constants);
		uint64_t own = word_at(mine + l->const_method_constants);

		fake_put_u64(&f.code.fake, pool + l->pool_bytes + 8UL * (4 + i),
			     word_at(own + l->pool_bytes + 8UL * 3));
		fake_put_u16(&f.code.fake, mine + l->const_method_name_index, (uint16_t)(4 + i));
		fake_put_u64(&f.code.fake, mine + l->const_method_constants, pool);
	}
}

/* What methods of one class have in common is read once. */
static void methods_of_one_class(void **state)
{
	(void)state;
	share_classes();
	assert_named(0);
	f.code.fake.reads = 0;
	code_names_meet(f.names, f.places, COUNT);
	assert_in_range(f.code.fake.reads, 1, 11);
	f.code.fake.reads = 0;
	for (unsigned int i = 0; i < COUNT; i++)
		assert_named(i);
	assert_int_equal(f.code.fake.reads, 0);
}

/* The first of a class cannot be named: the others are. */
static void who_speaks_for_a_class_may_fail(void **state)
{
	const struct jvm_layout *l = &f.code.layout;
	uint64_t pool;

	(void)state;
	share_classes();
	pool = word_at(word_at(f.method[0] + l->method_const_method) + l->const_method_constants);
	fake_put_u64(&f.code.fake, pool + l->pool_bytes + 8UL * 3, 0x1000);
	code_names_meet(f.names, f.places, COUNT);
	assert_int_equal(find(0), -EBADMSG);
	f.code.fake.reads = 0;
	for (unsigned int i = 1; i < COUNT; i++)
		assert_named(i);
	assert_int_equal(f.code.fake.reads, 0);
}

static void stubs_among_them(void **state)
{
	uint64_t stub = code_fixture_blob(&f.code, 55, 6, "a stub", KIND_STUB);

	(void)state;
	/* As a stub may have anything in the place of an id, also a method's. */
	put_u32(&f.code, stub + f.code.layout.wire.compile_id, 103);
	f.places[2] = (struct code_place){ stub + 330, 103 };
	code_names_meet(f.names, f.places, COUNT);
	assert_named(3);
	assert_int_equal(find(2), 0);
	assert_string_equal(answer.stub, "a stub");
}

static void more_than_go_together(void **state)
{
	struct code_place places[3 * CODE_NAMES_AT_ONCE];
	unsigned int reads;

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(places); i++) {
		places[i] = f.places[i % COUNT];
		places[i].address += i / COUNT;
	}
	code_names_meet(f.names, places, ARRAY_SIZE(places));
	reads = f.code.fake.reads;
	for (unsigned int i = 0; i < COUNT; i++)
		assert_named(i);
	assert_int_equal(f.code.fake.reads, reads);
}

/* Where there is room for one only, that one is right. */
static void without_room(void **state)
{
	(void)state;
	code_names_limit(f.names, 0);
	code_names_meet(f.names, f.places, COUNT);
	for (unsigned int i = 0; i < COUNT; i++)
		assert_named(i);
}

/* A JVM that puts other code into the places of some after the N-th read. */
static unsigned int change_after;
static uint64_t other;

static int changing_read(const struct vm_memory *memory, const struct vm_span *spans,
			 unsigned int count)
{
	const struct vm_memory *fake = &f.code.fake.memory;
	int r = fake->read(fake, spans, count);

	(void)memory;
	if (f.code.fake.reads == change_after)
		for (unsigned int i = 0; i < COUNT; i += 3)
			code_fixture_nmethod(&f.code, 1 + i * NMETHOD_BYTES, NMETHOD_BYTES, other,
					     200 + i);
	return r;
}

static void code_that_changes_while_it_is_read(void **state)
{
	const struct vm_memory memory = { .read = changing_read };
	unsigned int refused = 0;

	(void)state;
	other = code_fixture_method(&f.code, "Other", "other");
	for (change_after = 1; change_after < LATEST; change_after++) {
		for (unsigned int i = 0; i < COUNT; i++)
			code_fixture_nmethod(&f.code, 1 + i * NMETHOD_BYTES, NMETHOD_BYTES,
					     f.method[i], 100 + i);
		new_names(&memory);
		f.code.fake.reads = 0;
		code_names_meet(f.names, f.places, COUNT);
		for (unsigned int i = 0; i < COUNT; i++)
			if (i % 3 == 0 && find(i) == -ESTALE)
				refused++;
			else
				assert_named(i);
	}
	assert_true(refused > COUNT && refused < LATEST * COUNT / 3);
}

static uint64_t name_text(unsigned int at)
{
	const struct jvm_layout *l = &f.code.layout;
	uint64_t const_method = word_at(f.method[at] + l->method_const_method);
	uint64_t pool = word_at(const_method + l->const_method_constants);

	return word_at(pool + l->pool_bytes + 8UL * 3) + l->symbol_body;
}

/* Interpreted frames have the same methods: what was read beside code that went meanwhile is no name of theirs. */
static void what_was_not_proven_is_forgotten(void **state)
{
	const struct vm_memory memory = { .read = changing_read };
	struct java_frame frame;
	struct method_chain chain;
	int r;

	(void)state;
	other = code_fixture_method(&f.code, "Other", "other");
	new_names(&memory);
	change_after = 3;
	fake_put(&f.code.fake, name_text(3), "torn", 4);
	f.code.fake.reads = 0;
	code_names_meet(f.names, f.places + 3, 1);
	assert_true(f.code.fake.reads > 4);
	assert_int_equal(find(3), -ESTALE);
	fake_put(&f.code.fake, name_text(3), "work", 4);
	free(method_chains_follow(&f.code.fake.memory, &f.code.layout, &f.method[3],
				  &(bool){ false }, 1, &chain, &r));
	assert_int_equal(r, 0);
	assert_int_equal(method_names_find(f.methods, f.method[3], chain.const_method,
					   chain.identity, 0, &frame),
			 0);
	assert_string_equal(frame.method, "work3");
}

static unsigned int pieces;

static int counting_read(const struct vm_memory *memory, const struct vm_span *spans,
			 unsigned int count)
{
	const struct vm_memory *fake = &f.code.fake.memory;

	(void)memory;
	pieces += count;
	return fake->read(fake, spans, count);
}

/* The code of a method's next compilation. */
static void compile_again(unsigned int at, uint32_t compile_id)
{
	put_u32(&f.code, f.nmethod[at] + f.code.layout.wire.compile_id, compile_id);
	f.places[at].compile_id = compile_id;
}

/* Only whether it is still the same is read, and it is noticed when it is not: all addresses are as before, the class is another. */
static void a_method_that_is_known(void **state)
{
	const struct vm_memory memory = { .read = counting_read };
	const struct jvm_layout *l = &f.code.layout;
	unsigned int first;
	uint64_t symbol;

	(void)state;
	new_names(&memory);
	assert_named(4);
	compile_again(4, 200);
	pieces = 0;
	assert_named(4);
	first = pieces;
	symbol = word_at(word_at(f.method[6] + l->method_const_method) + l->const_method_constants);
	symbol = word_at(word_at(symbol + l->pool_holder) + l->klass_name);
	pieces = 0;
	assert_named(6);
	assert_true(first + 4 <= pieces);
	compile_again(6, 201);
	fake_put_u16(&f.code.fake, symbol + 2, 0x1234); /* its random number */
	fake_put(&f.code.fake, symbol + l->symbol_body, "pkg/Evil", 8);
	assert_int_equal(find(6), 0);
	assert_string_equal(answer.frames[0].class_name, "pkg.Evil");
	assert_string_equal(answer.frames[0].method, "work6");
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(all_are_named_in_the_reads_of_one),
		TEST(called_by_a_text_in_two_pages),
		TEST(those_that_fail_take_nothing_along),
		TEST(methods_of_one_class),
		TEST(who_speaks_for_a_class_may_fail),
		TEST(stubs_among_them),
		TEST(more_than_go_together),
		TEST(without_room),
		TEST(code_that_changes_while_it_is_read),
		TEST(what_was_not_proven_is_forgotten),
		TEST(a_method_that_is_known),
	};

	return cmocka_run_group_tests_name("code_meet", tests, NULL, NULL);
}
