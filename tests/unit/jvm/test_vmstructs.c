/* SPDX-License-Identifier: Apache-2.0 */
/* How the tables of a process are come by: read, checked, kept for others of the same library. */
#include "test.h"

#include "fake_libjvm.h"

#define BUILD "0123456789abcdef"
/* As many builds as are kept. */
#define KEPT 32

struct world {
	struct fake_jvm *f;
	struct vmstructs_cache *cache;
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	w->f = fake_library_new(25, BUILD);
	w->cache = vmstructs_cache_new();
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	/* Whatever came of it, no library stays open. */
	assert_true(fake_library.closed >= fake_library.opened);
	vmstructs_cache_free(w->cache);
	fake_library_hide();
	fake_jvm_free(w->f);
	free(w);
	return 0;
}

static struct vmstructs *open_with(struct vmstructs_cache *cache)
{
	struct vmstructs *vs = NULL;
	struct err err = { 0 };

	if (vmstructs_open(cache, (uint32_t)getpid(), NULL, &vs, &err))
		fail_msg("%s", err.text);
	return vs;
}

static void expect_failure(struct world *w, int code, const char *why)
{
	struct vmstructs *vs = NULL;
	struct err err = { 0 };

	assert_int_equal(vmstructs_open(w->cache, (uint32_t)getpid(), NULL, &vs, &err), code);
	assert_null(vs);
	assert_int_equal(err.code, code);
	if (!strstr(err.text, why))
		fail_msg("%s", err.text);
}

/* How often the tables were read to open it. */
static unsigned int turns_of(struct vmstructs_cache *cache)
{
	unsigned int before = fake_library.turns;

	vmstructs_close(open_with(cache));
	return fake_library.turns - before;
}

static uint64_t static_of(const struct vmstructs *vs, const char *type, const char *field)
{
	uint64_t address = 0;

	assert_int_equal(vmstructs_static(vs, type, field, &address), 0);
	return address;
}

static void what_is_read(void **state)
{
	struct world *w = *state;
	struct vmstructs *vs = open_with(w->cache);
	uint64_t value = 0;
	int64_t kind = 0;

	assert_true(static_of(vs, "AbstractInterpreter", "_code") == w->f->at_code);
	assert_int_equal(vmstructs_static_u64(vs, "AbstractInterpreter", "_code", &value), 0);
	assert_true(value == w->f->queue);
	assert_int_equal(vmstructs_field_offset(vs, "Method", "_constMethod", &value), 0);
	assert_int_equal(value, 8);
	assert_string_equal(vmstructs_field_type(vs, "CodeBlob", "_kind"), "CodeBlobKind");
	assert_null(vmstructs_field_type(vs, "CodeBlob", "_other"));
	assert_int_equal(vmstructs_sizeof(vs, "ConstMethod", &value), 0);
	assert_int_equal(value, 56);
	assert_int_equal(vmstructs_sizeof(vs, "Other", &value), -ENODATA);
	assert_int_equal(vmstructs_int_const(vs, "CodeBlobKind::Nmethod", &kind), 0);
	assert_int_equal(kind, 1);
	assert_int_equal(vmstructs_int_const(vs, "CodeBlobKind::Other", &kind), -ENODATA);
	assert_int_equal(vmstructs_memory(vs)->pid, getpid());
	/* A static is no field of an object, nor the other way round. */
	assert_int_equal(vmstructs_field_offset(vs, "AbstractInterpreter", "_code", &value),
			 -ENODATA);
	assert_int_equal(vmstructs_static(vs, "Method", "_constMethod", &value), -ENODATA);
	assert_int_equal(vmstructs_static_u64(vs, "Method", "_constMethod", &value), -ENODATA);
	assert_int_equal(vmstructs_field_offset(vs, "Method", "_other", &value), -ENODATA);
	assert_int_equal(vmstructs_static(vs, "Method", "_other", &value), -ENODATA);
	vmstructs_close(vs);
}

/* Another process has the library elsewhere: its variables are moved by as much. */
static void a_library_that_is_known_is_not_read_again(void **state)
{
	struct world *w = *state;
	struct vmstructs *first = open_with(w->cache), *second;
	uint64_t value = 0;

	assert_int_equal(fake_library.turns, 2);
	fake_library.missing = "gHotSpotVMTypes";
	fake_library.bias += w->f->at_heaps - w->f->at_code;
	second = open_with(w->cache);
	assert_int_equal(fake_library.turns, 2);
	assert_true(static_of(second, "AbstractInterpreter", "_code") == w->f->at_heaps);
	assert_int_equal(vmstructs_static_u64(second, "AbstractInterpreter", "_code", &value), 0);
	assert_true(value == w->f->heap_list);
	assert_int_equal(vmstructs_field_offset(second, "Method", "_constMethod", &value), 0);
	assert_int_equal(value, 8);
	assert_true(static_of(first, "AbstractInterpreter", "_code") == w->f->at_code);
	/* They live as long as somebody has them. */
	vmstructs_cache_free(w->cache);
	w->cache = NULL;
	vmstructs_close(first);
	assert_true(static_of(second, "AbstractInterpreter", "_code") == w->f->at_heaps);
	vmstructs_close(second);
}

/* Addresses in the tables are those of the process, the first one's bias is taken off. */
static void the_bias_of_who_was_read(void **state)
{
	struct world *w = *state;
	struct vmstructs *vs;

	fake_library.bias = 0x5000;
	vmstructs_close(open_with(w->cache));
	fake_library.bias = 0x5000 + 8;
	vs = open_with(w->cache);
	assert_true(static_of(vs, "CodeCache", "_heaps") == w->f->at_heaps + 8);
	vmstructs_close(vs);
}

static void a_library_without_build_id_is_nobodys(void **state)
{
	struct world *w = *state;

	fake_library.build_id = "";
	assert_int_equal(turns_of(w->cache), 2);
	assert_int_equal(turns_of(w->cache), 2);
	fake_library.build_id = BUILD;
	assert_int_equal(turns_of(NULL), 2);
	assert_int_equal(turns_of(w->cache), 2);
	assert_int_equal(turns_of(w->cache), 0);
	assert_int_equal(turns_of(NULL), 2);
	fake_library.build_id = BUILD "0";
	assert_int_equal(turns_of(w->cache), 2);
}

/* The build that was not asked for the longest time goes, and no other. */
static void a_host_of_many_builds(void **state)
{
	struct world *w = *state;
	char build_id[16];

	fake_library.build_id = build_id;
	for (unsigned int i = 0; i <= KEPT; i++) {
		snprintf(build_id, sizeof(build_id), "%u", i);
		assert_int_equal(turns_of(w->cache), 2);
	}
	for (unsigned int i = 1; i <= KEPT; i++) {
		snprintf(build_id, sizeof(build_id), "%u", i);
		assert_int_equal(turns_of(w->cache), 0);
	}
	strcpy(build_id, "0");
	assert_int_equal(turns_of(w->cache), 2);
	strcpy(build_id, "2");
	assert_int_equal(turns_of(w->cache), 0);
	strcpy(build_id, "1"); /* in place of 3 */
	assert_int_equal(turns_of(w->cache), 2);
	strcpy(build_id, "4");
	assert_int_equal(turns_of(w->cache), 0);
	strcpy(build_id, "new"); /* in place of 5, as 4 was just asked for */
	assert_int_equal(turns_of(w->cache), 2);
	strcpy(build_id, "4");
	assert_int_equal(turns_of(w->cache), 0);
	strcpy(build_id, "5");
	assert_int_equal(turns_of(w->cache), 2);
}

/* What is half made is nobody's to keep. */
static void a_jvm_that_starts(void **state)
{
	struct world *w = *state;
	uint64_t structs = w->f->vm.symbols[VM_STRUCTS], table;

	memcpy(&table, (void *)(uintptr_t)structs, sizeof(table));
	fake_library_put(w->f, structs, 0);
	expect_failure(w, -EAGAIN, "is still starting");
	/* A pointer that ld.so has not relocated. */
	fake_library_put(w->f, structs, 0x1000);
	expect_failure(w, -EAGAIN, "is still starting");
	fake_library_put(w->f, structs, table);
	fake_library_put(w->f, w->f->at_code, 0);
	expect_failure(w, -EAGAIN, "is still starting");
	fake_library_put(w->f, w->f->at_code, w->f->queue);
	assert_int_equal(turns_of(w->cache), 2);
	/* Of a second process of that library, too. */
	fake_library_put(w->f, w->f->at_code, 0);
	expect_failure(w, -EAGAIN, "is still starting");
}

static struct fake_jvm *growing;

/* The first time a field's type is not there yet. */
static void grow(unsigned int turn)
{
	uint64_t at = growing->vm.symbols[VM_STRUCTS], table, later;

	memcpy(&table, (void *)(uintptr_t)at, sizeof(table));
	later = turn == 1 ? table + 56 : table - 56;
	memcpy((void *)(uintptr_t)at, &later, sizeof(later));
}

/* What is read of a JVM that turns out to be ready was read too early: it is read again. */
static void tables_are_those_of_a_jvm_that_is_ready(void **state)
{
	struct world *w = *state;
	struct vmstructs *vs;
	uint64_t offset = 0;

	growing = w->f;
	fake_library.before = grow;
	vs = open_with(w->cache);
	assert_int_equal(vmstructs_field_offset(vs, "Method", "_constMethod", &offset), 0);
	assert_int_equal(offset, 8);
	vmstructs_close(vs);
}

static void what_is_no_hotspot(void **state)
{
	struct world *w = *state;

	for (unsigned int i = 0; i < VM_SYMBOL_COUNT; i++) {
		fake_library.missing = vmtables_symbol_names[i];
		expect_failure(w, -ENODATA, "is not HotSpot's: no VMStructs");
	}
	fake_library.missing = NULL;
	assert_int_equal(turns_of(w->cache), 2);
}

static void why_it_cannot_be_read(void **state)
{
	struct world *w = *state;
	struct vmstructs *vs = NULL;
	struct err err = { 0 };

	fake_library.answer = -EPERM;
	assert_int_equal(vmstructs_open(w->cache, 1, NULL, &vs, &err), -EPERM);
	assert_string_equal(err.hint, "run as root");
	fake_library.answer = -ESTALE;
	expect_failure(w, -ESTALE, "answer 116");
	fake_library.answer = 0;
	/* Entries of an impossible size. */
	fake_library_put(w->f, w->f->vm.symbols[VM_TYPES_STRIDE], 4096);
	expect_failure(w, -EBADMSG, "cannot read VMStructs of process");
}

/* An interpreter's variable that cannot be read, and tables that do not tell of one. */
static void a_jvm_without_an_interpreter(void **state)
{
	struct world *w = *state;

	vmstructs_close(open_with(w->cache));
	fake_library.bias = 1U << 30;
	expect_failure(w, -EFAULT, "cannot read the memory of process");
	fake_library.bias = 0;
	fake_library.build_id = "";
	/* The name of its class is another. */
	for (size_t i = 0; i + 20 < w->f->vm.fake.used; i++)
		if (!memcmp(w->f->vm.fake.bytes + i, "AbstractInterpreter", 20))
			w->f->vm.fake.bytes[i] = 'X';
	fake_library_show(w->f);
	expect_failure(w, -ENODATA, "tell of no interpreter");
}

/* JDK 21 has the stubs of continuations in its symbols only; where VMStructs tell of them, they count. */
static void symbols_that_are_no_vmstructs(void **state)
{
	struct world *w = *state;
	struct vmstructs *vs;

	fake_library.barrier = w->f->at_low;
	fake_library.enter = w->f->at_high;
	vs = open_with(w->cache);
	assert_true(static_of(vs, "StubRoutines", "_cont_returnBarrier") == w->f->at_barrier);
	assert_true(static_of(vs, "ContinuationEntry", "_return_pc") == w->f->at_enter);
	vmstructs_close(vs);
	fake_jvm_free(w->f);
	w->f = fake_jvm_fill(21, true);
	fake_library_show(w->f);
	fake_library.build_id = "21";
	fake_library.barrier = w->f->at_low;
	fake_library.enter = 0;
	vs = open_with(w->cache);
	assert_true(static_of(vs, "StubRoutines", "_cont_returnBarrier") == w->f->at_low);
	assert_string_equal(vmstructs_field_type(vs, "StubRoutines", "_cont_returnBarrier"),
			    "address");
	assert_int_equal(vmstructs_static(vs, "ContinuationEntry", "_return_pc", &(uint64_t){ 0 }),
			 -ENODATA);
	vmstructs_close(vs);
	/* A symbol's address is the file's own. */
	fake_library.bias = 8;
	fake_library.build_id = "21b";
	vs = open_with(w->cache);
	assert_true(static_of(vs, "StubRoutines", "_cont_returnBarrier") == w->f->at_low + 8);
	vmstructs_close(vs);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_read),
		TEST(a_library_that_is_known_is_not_read_again),
		TEST(the_bias_of_who_was_read),
		TEST(a_library_without_build_id_is_nobodys),
		TEST(a_host_of_many_builds),
		TEST(a_jvm_that_starts),
		TEST(tables_are_those_of_a_jvm_that_is_ready),
		TEST(what_is_no_hotspot),
		TEST(why_it_cannot_be_read),
		TEST(a_jvm_without_an_interpreter),
		TEST(symbols_that_are_no_vmstructs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
