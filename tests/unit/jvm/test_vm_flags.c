/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include "fake_vm.h"
#include "jvm/layout/vm_flags.h"

/* Where the statics and the array of flags are. */
struct flags_vm {
	struct fake_vm vm;
	uint64_t flags, count, release, info, major;
	uint64_t array;
};

#define FLAG_BYTES 24UL
#define FLAG_COUNT 4

static void put_flag(struct flags_vm *f, unsigned int index, const char *name, uint8_t value)
{
	struct fake_memory *fake = &f->vm.fake;
	uint64_t at = f->array + index * FLAG_BYTES;

	fake_put_u64(fake, at, fake_add(fake, &value, 1));
	fake_put_u64(fake, at + 8, name ? fake_string(fake, name) : 0);
}

static void put_statics(struct flags_vm *f, int32_t major)
{
	struct fake_memory *fake = &f->vm.fake;

	fake_put_u64(fake, f->flags, f->array);
	fake_put_u64(fake, f->count, FLAG_COUNT);
	fake_put_u64(fake, f->release, fake_string(fake, "25.504-b01"));
	fake_put_u64(fake, f->info,
		     fake_string(fake, "OpenJDK 64-Bit Server VM (25.504-b01) for linux-amd64 JRE "
				       "(1.8.0_504-b01), built on a day"));
	fake_put(fake, f->major, &major, sizeof(major));
	put_flag(f, 0, "DisableAttachMechanism", 1);
	put_flag(f, 1, "EnableDynamicAgentLoading", 0);
	put_flag(f, 2, "ReduceSignalUsageX", 1);
	put_flag(f, 3, NULL, 1);
}

/* TYPE is "JVMFlag" or, before JDK 10, "Flag". */
static struct flags_vm *flags_vm_new(const char *type, int32_t major)
{
	struct flags_vm *f = calloc(1, sizeof(*f));
	struct fake_memory *fake = &f->vm.fake;

	fake_init(fake);
	f->flags = fake_alloc(fake, 8);
	f->count = fake_alloc(fake, 8);
	f->release = fake_alloc(fake, 8);
	f->info = fake_alloc(fake, 8);
	f->major = fake_alloc(fake, 8);
	f->array = fake_alloc(fake, FLAG_COUNT * FLAG_BYTES);
	const struct fake_field fields[] = {
		{ type, "_addr", 0, 0 },
		{ type, "_name", 8, 0 },
		{ type, "flags", f->flags, 1 },
		{ type, "numFlags", f->count, 1 },
		{ "Abstract_VM_Version", "_s_vm_release", f->release, 1 },
		{ "Abstract_VM_Version", "_s_internal_vm_info_string", f->info, 1 },
		{ "Abstract_VM_Version", "_vm_major_version", f->major, 1 },
	};
	const struct fake_type types[] = { { type, FLAG_BYTES } };

	put_statics(f, major);
	fake_vm_open(&f->vm, fields, ARRAY_SIZE(fields), types, ARRAY_SIZE(types));
	return f;
}

static int setup(void **state)
{
	*state = flags_vm_new("JVMFlag", 17);
	return 0;
}

static int setup_jdk_8(void **state)
{
	*state = flags_vm_new("Flag", 25);
	return 0;
}

static int teardown(void **state)
{
	struct flags_vm *f = *state;

	fake_vm_release(&f->vm);
	free(f);
	return 0;
}

static void reads_flags(void **state)
{
	struct flags_vm *f = *state;
	struct vm_flags flags;

	assert_int_equal(vm_flags_read(f->vm.vs, &flags), 0);
	assert_int_equal(flags.disable_attach_mechanism, 1);
	assert_int_equal(flags.enable_dynamic_agent_loading, 0);
	assert_int_equal(flags.reduce_signal_usage, -1);
}

static void impossible_tables_are_refused(void **state)
{
	struct flags_vm *f = *state;
	struct vm_flags flags;

	fake_put_u64(&f->vm.fake, f->count, 1000000);
	assert_int_equal(vm_flags_read(f->vm.vs, &flags), -EBADMSG);
	fake_put_u64(&f->vm.fake, f->count, 5000);
	assert_int_equal(vm_flags_read(f->vm.vs, &flags), -EFAULT);
	fake_put_u64(&f->vm.fake, f->count, FLAG_COUNT);
	fake_put_u64(&f->vm.fake, f->array + 8, 0x666);
	assert_int_equal(vm_flags_read(f->vm.vs, &flags), -EFAULT);
}

/* An entry without a name or a value says nothing; any other value than 0 is yes. */
static void flags_of_all_kinds(void **state)
{
	struct flags_vm *f = *state;
	struct vm_flags flags;
	char longest[120];

	put_flag(f, 0, "EnableDynamicAgentLoading", 2);
	put_flag(f, 1, "ReduceSignalUsage", 0);
	put_flag(f, 2, "DisableAttachMechanism", 1);
	fake_put_u64(&f->vm.fake, f->array + 2 * FLAG_BYTES, 0);
	/* No flag of ours is so long. */
	memset(longest, 'x', sizeof(longest));
	longest[119] = '\0';
	put_flag(f, 3, longest, 1);
	assert_int_equal(vm_flags_read(f->vm.vs, &flags), 0);
	assert_int_equal(flags.enable_dynamic_agent_loading, 1);
	assert_int_equal(flags.reduce_signal_usage, 0);
	assert_int_equal(flags.disable_attach_mechanism, -1);
	/* The last of them counts, too. */
	put_flag(f, 3, "DisableAttachMechanism", 0);
	assert_int_equal(vm_flags_read(f->vm.vs, &flags), 0);
	assert_int_equal(flags.disable_attach_mechanism, 0);
	fake_put_u64(&f->vm.fake, f->count, FLAG_COUNT - 1);
	assert_int_equal(vm_flags_read(f->vm.vs, &flags), 0);
	assert_int_equal(flags.disable_attach_mechanism, -1);
}

/* What cannot be read says nothing of any flag. */
static void a_failure_says_nothing(void **state)
{
	struct flags_vm *f = *state;
	struct vm_flags flags = { .disable_attach_mechanism = 5 };

	fake_put_u64(&f->vm.fake, f->array + FLAG_BYTES, 8); /* a value */
	assert_int_equal(vm_flags_read(f->vm.vs, &flags), -EFAULT);
	assert_int_equal(flags.disable_attach_mechanism, 5);
	fake_put_u64(&f->vm.fake, f->flags, 0x1000);
	assert_int_equal(vm_flags_read(f->vm.vs, &flags), -EFAULT);
}

/* An array of flags with entries of SIZE bytes and these offsets. */
static int read_shape(uint64_t size, uint64_t name, uint64_t address, uint64_t count)
{
	struct fake_vm *vm = calloc(1, sizeof(*vm));
	struct vm_flags flags;
	uint64_t statics;
	int r;

	fake_init(&vm->fake);
	statics = fake_alloc(&vm->fake, 16);
	fake_put_u64(&vm->fake, statics, FAKE_BASE + 0x8000);
	fake_put_u64(&vm->fake, statics + 8, count);
	const struct fake_field fields[] = {
		{ "JVMFlag", "_addr", address, 0 },
		{ "JVMFlag", "_name", name, 0 },
		{ "JVMFlag", "flags", statics, 1 },
		{ "JVMFlag", "numFlags", statics + 8, 1 },
	};
	const struct fake_type type = { "JVMFlag", size };

	fake_vm_open(vm, fields, ARRAY_SIZE(fields), &type, 1);
	r = vm_flags_read(vm->vs, &flags);
	fake_vm_release(vm);
	free(vm);
	return r;
}

static void shapes_of_an_entry(void **state)
{
	(void)state;
	assert_int_equal(read_shape(16, 0, 8, 4), 0);
	assert_int_equal(read_shape(15, 0, 7, 4), -EBADMSG);
	assert_int_equal(read_shape(16, 9, 8, 4), -EBADMSG);
	assert_int_equal(read_shape(16, 0, 9, 4), -EBADMSG);
	assert_int_equal(read_shape(256, 248, 0, 4), 0);
	assert_int_equal(read_shape(256, 249, 0, 4), -EBADMSG);
	assert_int_equal(read_shape(257, 0, 8, 4), -EBADMSG);
	assert_int_equal(read_shape(16, 0, 8, 0), 0);
	/* More than lie in memory, and more than there can be. */
	assert_int_equal(read_shape(16, 0, 8, 8192), -EFAULT);
	assert_int_equal(read_shape(16, 0, 8, 8193), -EBADMSG);
}

static void numbers_of_releases(void **state)
{
	static const struct {
		int32_t major;
		uint32_t flag, jvm_flag; /* of a JVM whose flags are of type Flag, JVMFlag */
	} cases[] = {
		{ 25, 8, 25 },	   { 10, 8, 10 },  { 9, 9, 9 }, { 26, 26, 26 }, { 1, 1, 1 },
		{ 999, 999, 999 }, { 1000, 0, 0 }, { 0, 0, 0 }, { -1, 0, 0 },
	};

	(void)state;
	for (unsigned int i = 0; i < ARRAY_SIZE(cases); i++) {
		struct flags_vm *old = flags_vm_new("Flag", cases[i].major);
		struct flags_vm *new = flags_vm_new("JVMFlag", cases[i].major);

		assert_int_equal(vm_version_feature(old->vm.vs), cases[i].flag);
		assert_int_equal(vm_version_feature(new->vm.vs), cases[i].jvm_flag);
		teardown((void *[]){ old });
		teardown((void *[]){ new });
	}
}

static void version_of_17(void **state)
{
	struct flags_vm *f = *state;
	char version[64];

	assert_int_equal(vm_version_feature(f->vm.vs), 17);
	fake_put_u64(&f->vm.fake, f->release, fake_string(&f->vm.fake, "17.0.15+6-D\x1b"));
	assert_int_equal(vm_version_read(f->vm.vs, version, sizeof(version)), 0);
	assert_string_equal(version, "17.0.15+6-D?");
	assert_int_equal(vm_version_read(f->vm.vs, version, 5), 0);
	assert_string_equal(version, "17.0");
}

/* HotSpot counted itself until JDK 8, which had 25: the same number as JDK 25 has. */
static void version_of_8(void **state)
{
	struct flags_vm *f = *state;
	char version[64];

	assert_int_equal(vm_version_feature(f->vm.vs), 8);
	assert_int_equal(vm_version_read(f->vm.vs, version, sizeof(version)), 0);
	assert_string_equal(version, "1.8.0_504-b01");
	fake_put_u64(&f->vm.fake, f->info, fake_string(&f->vm.fake, "JRE (1.8"));
	assert_int_equal(vm_version_read(f->vm.vs, version, sizeof(version)), 0);
	assert_string_equal(version, "25.504-b01");
	fake_put_u64(&f->vm.fake, f->info, fake_string(&f->vm.fake, "(1.8) of the (other)"));
	assert_int_equal(vm_version_read(f->vm.vs, version, sizeof(version)), 0);
	assert_string_equal(version, "25.504-b01");
	fake_put_u64(&f->vm.fake, f->info, 8);
	fake_put_u64(&f->vm.fake, f->release, fake_string(&f->vm.fake, " ~\x7f\x1f"));
	assert_int_equal(vm_version_read(f->vm.vs, version, sizeof(version)), 0);
	assert_string_equal(version, " ~??");
	strcpy(version, "kept");
	fake_put_u64(&f->vm.fake, f->release, 8);
	assert_int_equal(vm_version_read(f->vm.vs, version, sizeof(version)), -EFAULT);
	assert_string_equal(version, "kept");
}

/* A JVM whose tables tell of none of it. */
static void nothing_is_told(void **state)
{
	struct fake_vm *vm = calloc(1, sizeof(*vm));
	const struct fake_field field = { "Method", "_constMethod", 8, 0 };
	const struct fake_type type = { "Method", 8 };
	struct vm_flags flags;
	char version[64];

	(void)state;
	fake_init(&vm->fake);
	fake_vm_open(vm, &field, 1, &type, 1);
	assert_int_equal(vm_flags_read(vm->vs, &flags), -ENODATA);
	assert_int_equal(vm_version_feature(vm->vs), 0);
	assert_int_equal(vm_version_read(vm->vs, version, sizeof(version)), -ENODATA);
	fake_vm_release(vm);
	free(vm);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(reads_flags, setup, teardown),
		cmocka_unit_test_setup_teardown(reads_flags, setup_jdk_8, teardown),
		cmocka_unit_test_setup_teardown(impossible_tables_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(flags_of_all_kinds, setup, teardown),
		cmocka_unit_test_setup_teardown(a_failure_says_nothing, setup, teardown),
		cmocka_unit_test(shapes_of_an_entry),
		cmocka_unit_test(numbers_of_releases),
		cmocka_unit_test(nothing_is_told),
		cmocka_unit_test_setup_teardown(version_of_17, setup, teardown),
		cmocka_unit_test_setup_teardown(version_of_8, setup_jdk_8, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
