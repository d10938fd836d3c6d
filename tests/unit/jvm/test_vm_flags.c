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
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(reads_flags, setup, teardown),
		cmocka_unit_test_setup_teardown(reads_flags, setup_jdk_8, teardown),
		cmocka_unit_test_setup_teardown(impossible_tables_are_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(version_of_17, setup, teardown),
		cmocka_unit_test_setup_teardown(version_of_8, setup_jdk_8, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
