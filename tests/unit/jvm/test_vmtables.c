/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "fake_memory.h"
#include "jvm/layout/vmtables.h"

#define BIAS 0x7f0000000000ULL

/* As JDK 17 lays its entries out (share/runtime/vmStructs.hpp). */
struct struct_entry {
	uint64_t type_name, field_name, type_string;
	int32_t is_static, pad;
	uint64_t offset, address;
};

struct type_entry {
	uint64_t name, super;
	int32_t is_oop, is_integer, is_unsigned, pad;
	uint64_t size;
};

struct int_entry {
	uint64_t name;
	int32_t value, pad;
};

struct long_entry {
	uint64_t name, value;
};

struct fixture {
	struct fake_memory fake;
	uint64_t symbols[VM_SYMBOL_COUNT];
	uint64_t structs; /* where the table is */
};

/* An exported variable with its value. */
static void set_symbol(struct fixture *f, enum vmtables_symbol symbol, uint64_t value)
{
	if (!f->symbols[symbol])
		f->symbols[symbol] = fake_alloc(&f->fake, 8);
	fake_put_u64(&f->fake, f->symbols[symbol], value);
}

static void add_structs(struct fixture *f)
{
	struct fake_memory *fake = &f->fake;
	const struct struct_entry entries[] = {
		{ fake_string(fake, "Method"), fake_string(fake, "_constMethod"),
		  fake_string(fake, "ConstMethod*"), 0, 0, 8, 0 },
		{ fake_string(fake, "AbstractInterpreter"), fake_string(fake, "_code"),
		  fake_string(fake, "StubQueue*"), 1, 0, 0, BIAS + 0x1311 },
		{ fake_string(fake, "HeapBlock::Header"), fake_string(fake, "_used"), 0, 0, 0, 4,
		  0 },
		{ 0 },
	};

	f->structs = fake_add(fake, entries, sizeof(entries));
	set_symbol(f, VM_STRUCTS, f->structs);
	set_symbol(f, VM_STRUCTS_STRIDE, sizeof(entries[0]));
	set_symbol(f, VM_STRUCTS_TYPE_NAME, offsetof(struct struct_entry, type_name));
	set_symbol(f, VM_STRUCTS_FIELD_NAME, offsetof(struct struct_entry, field_name));
	set_symbol(f, VM_STRUCTS_TYPE_STRING, offsetof(struct struct_entry, type_string));
	set_symbol(f, VM_STRUCTS_IS_STATIC, offsetof(struct struct_entry, is_static));
	set_symbol(f, VM_STRUCTS_OFFSET, offsetof(struct struct_entry, offset));
	set_symbol(f, VM_STRUCTS_ADDRESS, offsetof(struct struct_entry, address));
}

static void add_types(struct fixture *f)
{
	const struct type_entry entries[] = {
		{ .name = fake_string(&f->fake, "nmethod"), .size = 352 },
		{ .name = fake_string(&f->fake, "ConstMethod"), .size = 48 },
		{ 0 },
	};

	set_symbol(f, VM_TYPES, fake_add(&f->fake, entries, sizeof(entries)));
	set_symbol(f, VM_TYPES_STRIDE, sizeof(entries[0]));
	set_symbol(f, VM_TYPES_NAME, offsetof(struct type_entry, name));
	set_symbol(f, VM_TYPES_SIZE, offsetof(struct type_entry, size));
}

static void add_constants(struct fixture *f)
{
	const struct int_entry ints[] = {
		{ fake_string(&f->fake, "CodeBlobKind::Nmethod"), 1, 0 },
		{ fake_string(&f->fake, "InvocationEntryBci"), -1, 0 },
		{ 0 },
	};
	const struct long_entry longs[] = {
		{ fake_string(&f->fake, "markWord::hash_mask"), 0x7fffffff00ULL },
		{ 0 },
	};

	set_symbol(f, VM_INTS, fake_add(&f->fake, ints, sizeof(ints)));
	set_symbol(f, VM_INTS_STRIDE, sizeof(ints[0]));
	set_symbol(f, VM_INTS_NAME, offsetof(struct int_entry, name));
	set_symbol(f, VM_INTS_VALUE, offsetof(struct int_entry, value));
	set_symbol(f, VM_LONGS, fake_add(&f->fake, longs, sizeof(longs)));
	set_symbol(f, VM_LONGS_STRIDE, sizeof(longs[0]));
	set_symbol(f, VM_LONGS_NAME, offsetof(struct long_entry, name));
	set_symbol(f, VM_LONGS_VALUE, offsetof(struct long_entry, value));
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	fake_init(&f->fake);
	add_structs(f);
	add_types(f);
	add_constants(f);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	free(*state);
	return 0;
}

static int read_result(struct fixture *f)
{
	_cleanup_(vmtables_unrefp) struct vmtables *tables = NULL;

	return vmtables_read(&f->fake.memory, f->symbols, BIAS, &tables);
}

static void reads_all_tables(void **state)
{
	struct fixture *f = *state;
	_cleanup_(vmtables_unrefp) struct vmtables *tables = NULL;
	const struct vmtables_field *field;
	uint64_t size = 0;
	int64_t value = 0;

	assert_int_equal(vmtables_read(&f->fake.memory, f->symbols, BIAS, &tables), 0);
	field = vmtables_find_field(tables, "Method", "_constMethod");
	assert_non_null(field);
	assert_false(field->is_static);
	assert_int_equal(field->value, 8);
	assert_string_equal(field->ctype, "ConstMethod*");
	field = vmtables_find_field(tables, "HeapBlock::Header", "_used");
	assert_non_null(field);
	assert_string_equal(field->ctype, "");
	assert_true(vmtables_find_size(tables, "ConstMethod", &size));
	assert_int_equal(size, 48);
	assert_true(vmtables_find_size(tables, "nmethod", &size));
	assert_int_equal(size, 352);
	assert_true(vmtables_find_const(tables, "InvocationEntryBci", &value));
	assert_int_equal(value, -1);
	assert_true(vmtables_find_const(tables, "markWord::hash_mask", &value));
	assert_true(value == 0x7fffffff00LL);
}

static void static_addresses_are_relative(void **state)
{
	struct fixture *f = *state;
	_cleanup_(vmtables_unrefp) struct vmtables *tables = NULL;
	const struct vmtables_field *field;

	assert_int_equal(vmtables_read(&f->fake.memory, f->symbols, BIAS, &tables), 0);
	field = vmtables_find_field(tables, "AbstractInterpreter", "_code");
	assert_non_null(field);
	assert_true(field->is_static);
	assert_int_equal(field->value, 0x1311);
}

static void absent_is_absent(void **state)
{
	struct fixture *f = *state;
	_cleanup_(vmtables_unrefp) struct vmtables *tables = NULL;
	uint64_t size;
	int64_t value;

	assert_int_equal(vmtables_read(&f->fake.memory, f->symbols, BIAS, &tables), 0);
	assert_null(vmtables_find_field(tables, "Method", "_code"));
	assert_null(vmtables_find_field(tables, "Metho", "_constMethod"));
	assert_false(vmtables_find_size(tables, "Method", &size));
	assert_false(vmtables_find_const(tables, "", &value));
}

static void starting_jvm_says_try_again(void **state)
{
	struct fixture *f = *state;

	set_symbol(f, VM_TYPES_STRIDE, 0);
	assert_int_equal(read_result(f), -EAGAIN);
	set_symbol(f, VM_TYPES_STRIDE, sizeof(struct type_entry));
	set_symbol(f, VM_STRUCTS, 0);
	assert_int_equal(read_result(f), -EAGAIN);
	/* Constructors have not filled the table yet. */
	set_symbol(f, VM_STRUCTS, f->structs);
	fake_put_u64(&f->fake, f->structs, 0);
	assert_int_equal(read_result(f), -EAGAIN);
}

static void impossible_entries_are_refused(void **state)
{
	struct fixture *f = *state;

	set_symbol(f, VM_STRUCTS_STRIDE, 100000);
	assert_int_equal(read_result(f), -EBADMSG);
	set_symbol(f, VM_STRUCTS_STRIDE, sizeof(struct struct_entry));
	set_symbol(f, VM_STRUCTS_ADDRESS, sizeof(struct struct_entry) - 7);
	assert_int_equal(read_result(f), -EBADMSG);
	set_symbol(f, VM_STRUCTS_ADDRESS, UINT64_MAX);
	assert_int_equal(read_result(f), -EBADMSG);
	set_symbol(f, VM_STRUCTS_ADDRESS, offsetof(struct struct_entry, address));
	assert_int_equal(read_result(f), 0);
}

static void pointers_that_lead_nowhere(void **state)
{
	struct fixture *f = *state;

	fake_put_u64(&f->fake, f->structs, 0x1234);
	assert_int_equal(read_result(f), -EFAULT);
	set_symbol(f, VM_STRUCTS, UINT64_MAX - 16);
	assert_int_equal(read_result(f), -EFAULT);
}

static void endless_name_is_refused(void **state)
{
	struct fixture *f = *state;
	uint64_t name = fake_alloc(&f->fake, 8192);

	for (size_t i = 0; i < 8192; i++)
		fake_put(&f->fake, name + i, "x", 1);
	fake_put_u64(&f->fake, f->structs, name);
	assert_int_equal(read_result(f), -E2BIG);
}

#define VARIABLES 0x1000 /* one page with the exported variables */
#define NAMES	  0x2000 /* one page with a string; all other memory is pointers to it */

static const uint64_t endless_values[VM_SYMBOL_COUNT] = {
	[VM_STRUCTS] = 0x100000,     [VM_STRUCTS_STRIDE] = sizeof(struct struct_entry),
	[VM_STRUCTS_FIELD_NAME] = 8, [VM_STRUCTS_TYPE_STRING] = 16,
	[VM_STRUCTS_IS_STATIC] = 24, [VM_STRUCTS_OFFSET] = 32,
	[VM_STRUCTS_ADDRESS] = 40,
};

static uint64_t variable_word(uint64_t address)
{
	size_t at = address % 0x1000 / 8;

	return at < VM_SYMBOL_COUNT ? endless_values[at] : 0;
}

static uint64_t endless_word(uint64_t address)
{
	return address / 0x1000 == NAMES / 0x1000 ? 'a' : NAMES;
}

#define LAVISH_ENTRIES 4096
#define LAVISH_NAMES   0x10000000 /* one of 496 bytes every 512 */

/* As many entries as a JVM may have, and no two names the same. */
static uint64_t lavish_word(uint64_t address)
{
	uint64_t table = endless_values[VM_STRUCTS], name = address >> 9, word = 0;

	if (address < LAVISH_NAMES)
		return address < table + LAVISH_ENTRIES * sizeof(struct struct_entry)
			       ? LAVISH_NAMES + ((address - table) / 8 << 9)
			       : 0;
	if (address % 512 >= 496)
		return 0;
	for (unsigned int i = 0; i < 8; i++, name >>= 4)
		word = word << 8 | ('a' + (address % 512 ? 0 : name & 15));
	return word;
}

/* The process's words are made when they are read, all but the exported variables. */
struct made {
	uint64_t (*word)(uint64_t address);
};

static int read_made(const struct vm_memory *memory, const struct vm_span *spans,
		     unsigned int count)
{
	const struct made *made = memory->data;

	for (unsigned int i = 0; i < count; i++)
		for (size_t k = 0; k < spans[i].len; k += 8) {
			uint64_t at = spans[i].address + k;
			uint64_t word = at / 0x1000 == VARIABLES / 0x1000 ? variable_word(at)
									  : made->word(at);

			memcpy((char *)spans[i].data + k, &word, sizeof(word));
		}
	return 0;
}

static int read_made_tables(uint64_t (*word)(uint64_t address))
{
	struct made made = { word };
	const struct vm_memory memory = { .read = read_made, .data = &made };
	uint64_t symbols[VM_SYMBOL_COUNT];
	struct vmtables *tables = NULL;
	int r;

	for (unsigned int i = 0; i < VM_SYMBOL_COUNT; i++)
		symbols[i] = VARIABLES + 8 * i;
	r = vmtables_read(&memory, symbols, 0, &tables);
	assert_null(tables);
	return r;
}

static void endless_table_is_refused(void **state)
{
	(void)state;
	assert_int_equal(read_made_tables(endless_word), -E2BIG);
}

/* 6 MB of names: hostprof keeps the tables of 32 builds. */
static void lavish_names_are_refused(void **state)
{
	(void)state;
	assert_int_equal(read_made_tables(lavish_word), -E2BIG);
}

static void pages_are_fetched_once(void **state)
{
	struct fixture *f = *state;

	f->fake.reads = 0;
	assert_int_equal(read_result(f), 0);
	assert_in_range(f->fake.reads, 1, FAKE_BYTES / 4096);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(reads_all_tables, setup, teardown),
		cmocka_unit_test_setup_teardown(static_addresses_are_relative, setup, teardown),
		cmocka_unit_test_setup_teardown(absent_is_absent, setup, teardown),
		cmocka_unit_test_setup_teardown(starting_jvm_says_try_again, setup, teardown),
		cmocka_unit_test_setup_teardown(impossible_entries_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(pointers_that_lead_nowhere, setup, teardown),
		cmocka_unit_test_setup_teardown(endless_name_is_refused, setup, teardown),
		cmocka_unit_test(endless_table_is_refused),
		cmocka_unit_test(lavish_names_are_refused),
		cmocka_unit_test_setup_teardown(pages_are_fetched_once, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
