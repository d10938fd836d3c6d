/* SPDX-License-Identifier: Apache-2.0 */
/* How the tables of a process are come by: read, checked, kept for others of the same library. */
#include "test.h"

#include "fake_libjvm.h"

/* As many as are kept. */
#define KEPT 32

struct world {
	struct fake_jvm *f;
	struct vmstructs_cache *cache;
};

static int setup(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	w->f = fake_library_new(25);
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

/* Where the entry of a static field has its address. */
static uint64_t *address_of(struct world *w, unsigned int entry)
{
	uint64_t table;

	memcpy(&table, (void *)(uintptr_t)w->f->vm.symbols[VM_STRUCTS], sizeof(table));
	return (uint64_t *)(uintptr_t)(table + entry * 56ULL + 40);
}

static bool is_static(struct world *w, unsigned int entry)
{
	return address_of(w, entry)[-2];
}

/* Another process has the library elsewhere: its variables are moved by as much. */
static void move_library(struct world *w, uint64_t by)
{
	fake_library.bias += by;
	for (unsigned int i = 0; address_of(w, i)[-5]; i++)
		if (is_static(w, i))
			*address_of(w, i) += by;
}

static uint64_t *static_entry(struct world *w, uint64_t address)
{
	for (unsigned int i = 0;; i++)
		if (is_static(w, i) && *address_of(w, i) == address)
			return address_of(w, i);
}

static void what_is_known_is_kept_once(void **state)
{
	struct world *w = *state;
	uint64_t by = w->f->at_heaps - w->f->at_code, value = 0;
	struct vmstructs *first = open_with(w->cache), *second;

	assert_int_equal(fake_library.turns, 2);
	move_library(w, by);
	second = open_with(w->cache);
	assert_int_equal(fake_library.turns, 3);
	assert_ptr_equal(vmstructs_field_type(first, "Method", "_constMethod"),
			 vmstructs_field_type(second, "Method", "_constMethod"));
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

/* A process of the same library has written into its tables, before others are read or after. */
static void what_one_process_says_is_no_others(void **state)
{
	struct world *w = *state;
	struct vmstructs *honest, *liar, *third;
	uint64_t *entry;

	for (int liar_first = 0; liar_first < 2; liar_first++) {
		vmstructs_cache_free(w->cache);
		w->cache = vmstructs_cache_new();
		honest = liar_first ? NULL : open_with(w->cache);
		entry = static_entry(w, w->f->at_heaps);
		*entry = w->f->at_low;
		liar = open_with(w->cache);
		*entry = w->f->at_heaps;
		if (liar_first)
			honest = open_with(w->cache);
		third = open_with(w->cache);
		assert_true(static_of(liar, "CodeCache", "_heaps") == w->f->at_low);
		assert_true(static_of(honest, "CodeCache", "_heaps") == w->f->at_heaps);
		assert_true(static_of(third, "CodeCache", "_heaps") == w->f->at_heaps);
		vmstructs_close(liar);
		vmstructs_close(honest);
		vmstructs_close(third);
	}
	/* Offsets that add up to the same are not the same. */
	honest = open_with(w->cache);
	for (unsigned int i = 0;; i++)
		if (!is_static(w, i) && !is_static(w, i + 1)) {
			address_of(w, i)[-1] += 1;
			address_of(w, i + 1)[-1] -= 31;
			break;
		}
	liar = open_with(w->cache);
	assert_ptr_not_equal(vmstructs_field_type(honest, "Method", "_constMethod"),
			     vmstructs_field_type(liar, "Method", "_constMethod"));
	vmstructs_close(liar);
	vmstructs_close(honest);
}

/* Names of the tables are theirs, too. */
static void a_name_that_one_process_changed(void **state)
{
	struct world *w = *state;
	struct vmstructs *honest = open_with(w->cache), *liar;
	uint64_t table, size = 0;
	char *at;

	memcpy(&table, (void *)(uintptr_t)w->f->vm.symbols[VM_TYPES], sizeof(table));
	memcpy(&at, (void *)(uintptr_t)table, sizeof(at));
	assert_string_equal(at, "ConstMethod");
	at += strlen("ConstMetho"); /* its place among the others stays */
	*at = 'X';
	liar = open_with(w->cache);
	assert_int_equal(vmstructs_sizeof(honest, "ConstMethod", &size), 0);
	assert_int_equal(vmstructs_sizeof(liar, "ConstMethod", &size), -ENODATA);
	vmstructs_close(liar);
	*at = 'd';
	liar = open_with(w->cache);
	assert_int_equal(vmstructs_sizeof(liar, "ConstMethod", &size), 0);
	vmstructs_close(liar);
	vmstructs_close(honest);
}

/* What its symbols add is the file's: of another one they are looked up, and shared when they say the same. */
static void symbols_of_another_file(void **state)
{
	struct world *w = *state;
	struct vmstructs *first, *copy, *other;

	fake_jvm_free(w->f);
	w->f = fake_jvm_fill(21, true);
	fake_library_show(w->f);
	fake_library.barrier = w->f->at_low;
	first = open_with(w->cache);
	fake_library.inode = 2;
	copy = open_with(w->cache);
	fake_library.barrier = w->f->at_high;
	fake_library.inode = 3;
	other = open_with(w->cache);
	assert_ptr_equal(vmstructs_field_type(first, "Method", "_constMethod"),
			 vmstructs_field_type(copy, "Method", "_constMethod"));
	assert_true(static_of(copy, "StubRoutines", "_cont_returnBarrier") == w->f->at_low);
	assert_true(static_of(other, "StubRoutines", "_cont_returnBarrier") == w->f->at_high);
	vmstructs_close(first);
	vmstructs_close(copy);
	vmstructs_close(other);
}

static void without_a_cache(void **state)
{
	struct world *w = *state;

	assert_int_equal(turns_of(NULL), 2);
	assert_int_equal(turns_of(w->cache), 2);
	assert_int_equal(turns_of(w->cache), 1);
	assert_int_equal(turns_of(NULL), 2);
}

/* Those that were not asked for the longest time go, and no other. */
static void a_host_of_many_builds(void **state)
{
	struct world *w = *state;
	uint64_t *entry = static_entry(w, w->f->at_heaps);

	for (unsigned int i = 0; i <= KEPT; i++) {
		*entry = w->f->at_heaps + i;
		assert_int_equal(turns_of(w->cache), 2);
	}
	for (unsigned int i = 1; i <= KEPT; i++) {
		*entry = w->f->at_heaps + i;
		assert_int_equal(turns_of(w->cache), 1);
	}
	*entry = w->f->at_heaps;
	assert_int_equal(turns_of(w->cache), 2);
	*entry = w->f->at_heaps + 2;
	assert_int_equal(turns_of(w->cache), 1);
	*entry = w->f->at_heaps + 1; /* in place of 3 */
	assert_int_equal(turns_of(w->cache), 2);
	*entry = w->f->at_heaps + 3;
	assert_int_equal(turns_of(w->cache), 2);
	*entry = w->f->at_heaps + 5; /* 4 went for 3 */
	assert_int_equal(turns_of(w->cache), 1);
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

	uint64_t *entry = static_entry(w, w->f->at_code);

	*entry += 1U << 30;
	expect_failure(w, -EFAULT, "cannot read the memory of process");
	*entry -= 1U << 30;
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
	vs = open_with(w->cache);
	assert_true(static_of(vs, "StubRoutines", "_cont_returnBarrier") == w->f->at_low + 8);
	vmstructs_close(vs);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_read),
		TEST(what_is_known_is_kept_once),
		TEST(what_one_process_says_is_no_others),
		TEST(a_name_that_one_process_changed),
		TEST(symbols_of_another_file),
		TEST(without_a_cache),
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
