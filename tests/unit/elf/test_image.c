// SPDX-License-Identifier: Apache-2.0
#include "image_fixture.h"

#include <search.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/wait.h>

#include "process/registry.h"

static void own_file_by_its_mapping(void **state)
{
	struct fixture *f = *state;
	struct registry *registry;
	struct mapping *mapping;
	struct image *image;
	struct file_key key;
	struct elf_symbol symbol;
	uint64_t address, start, limit, offset;

	registry = registry_new();
	mapping = process_find_mapping(registry_get(registry, (uint32_t)getpid(), 0),
				       (uintptr_t)image_test_local);
	key = (struct file_key){ mapping->key.major, mapping->key.minor, mapping->key.inode, 0 };
	image = image_cache_open(f->cache, &key, (uint32_t)getpid(), mapping->start, mapping->end,
				 mapping->path);
	assert_int_equal(image_state(image), IMAGE_NEW);
	image_load(f->cache, image);
	wait_for(f, image);
	assert_int_equal(image_state(image), IMAGE_READY);
	assert_string_equal(image_failure(image), "");
	assert_true(image_offset_to_address(
		image, (uintptr_t)image_test_local - mapping->start + mapping->pgoff, &address));
	assert_int_equal(address, f->local_address);
	assert_true(image_find_symbol(image, address + 1, &symbol));
	assert_string_equal(symbol.name, "image_test_local");
	assert_int_equal(symbol.address, f->local_address);
	image_text_range(image, &start, &limit, &offset);
	assert_in_range(address, start, limit - 1);
	assert_false(image_offset_to_address(image, 1ULL << 40, &address));
	assert_int_equal(strlen(image_build_id(image)), 40);
	registry_free(registry);
}

static void libc_has_names_and_a_build_id(void **state)
{
	struct fixture *f = *state;
	struct registry *registry;
	struct mapping *mapping;
	struct file_key key;
	struct image *image;
	struct elf_symbol symbol;
	uint64_t address;

	registry = registry_new();
	mapping = process_find_mapping(registry_get(registry, (uint32_t)getpid(), 0),
				       (uintptr_t)hsearch_r);
	key = (struct file_key){ mapping->key.major, mapping->key.minor, mapping->key.inode, 0 };
	image = image_cache_open(f->cache, &key, (uint32_t)getpid(), mapping->start, mapping->end,
				 mapping->path);
	wait_for(f, image);
	assert_true(image_offset_to_address(
		image, (uintptr_t)hsearch_r - mapping->start + mapping->pgoff, &address));
	assert_true(image_find_symbol(image, address, &symbol));
	assert_string_equal(symbol.name, "hsearch_r");
	assert_false(symbol.cpp);
	assert_int_equal(strlen(image_build_id(image)), 40);
	registry_free(registry);
}

static void a_stripped_file_has_no_local_names(void **state)
{
	struct fixture *f = *state;

	copy_self(f, "prog");
	if (!run(f, "strip prog"))
		skip();
	assert_string_equal(local_name(f, open_named(f, "prog")), "");
}

static bool split_debug(struct fixture *f, const char *debug_dir)
{
	char command[512];

	copy_self(f, "prog");
	snprintf(command, sizeof(command),
		 "mkdir -p %s && objcopy --only-keep-debug prog %s/prog.debug && strip prog && "
		 "objcopy --add-gnu-debuglink=%s/prog.debug prog",
		 debug_dir, debug_dir, debug_dir);
	return run(f, command);
}

static void debug_link_beside_the_file(void **state)
{
	struct fixture *f = *state;

	if (!split_debug(f, "."))
		skip();
	assert_string_equal(local_name(f, open_named(f, "prog")), "image_test_local");
}

static void debug_link_in_the_debug_directory(void **state)
{
	struct fixture *f = *state;

	if (!split_debug(f, ".debug"))
		skip();
	assert_string_equal(local_name(f, open_named(f, "prog")), "image_test_local");
}

/* What speaks for every process that maps the program is not for others to write. */
static void a_debug_file_that_others_may_write(void **state)
{
	struct fixture *f = *state;

	if (!split_debug(f, ".") || !run(f, "chmod g+w prog.debug"))
		skip();
	assert_string_equal(local_name(f, open_named(f, "prog")), "");
	/* Unless they may write the program, too. */
	assert_true(run(f, "cp prog prog2; chmod g+w prog2"));
	assert_string_equal(local_name(f, open_named(f, "prog2")), "image_test_local");
}

static void a_debug_file_of_another_user(void **state)
{
	struct fixture *f = *state;

	if (!split_debug(f, ".") || geteuid() != 0)
		skip();
	assert_true(run(f, "cp prog prog2; chown 65534 prog.debug; chown 65533 prog2"));
	assert_string_equal(local_name(f, open_named(f, "prog")), "");
	assert_string_equal(local_name(f, open_named(f, "prog2")), "");
	assert_true(run(
		f,
		"cp prog prog3; chown 65534 prog3; cp prog prog4; chown 0 prog.debug; chown 65533 prog4"));
	assert_string_equal(local_name(f, open_named(f, "prog4")), "image_test_local");
	assert_true(run(f, "chown 65534 prog.debug"));
	assert_string_equal(local_name(f, open_named(f, "prog3")), "image_test_local");
}

/* No build id in it: the checksum alone decides. */
static void debug_link_checked_by_checksum(void **state)
{
	struct fixture *f = *state;

	copy_self(f, "prog");
	if (!run(f, "objcopy --remove-section=.note.gnu.build-id prog && "
		    "objcopy --only-keep-debug prog prog.debug && strip prog && "
		    "objcopy --add-gnu-debuglink=prog.debug prog"))
		skip();
	assert_string_equal(local_name(f, open_named(f, "prog")), "image_test_local");
}

static void a_debug_file_of_another_build(void **state)
{
	struct fixture *f = *state;

	copy_self(f, "prog");
	if (!run(f, "objcopy --remove-section=.note.gnu.build-id prog && "
		    "objcopy --only-keep-debug prog prog.debug && strip prog && "
		    "objcopy --add-gnu-debuglink=prog.debug prog && echo x >>prog.debug"))
		skip();
	assert_string_equal(local_name(f, open_named(f, "prog")), "");
}

/* The build id is enough: tools rewrite debug files, and the checksum is another one then. */
static void debug_link_checked_by_build_id(void **state)
{
	struct fixture *f = *state;

	copy_self(f, "prog");
	if (!run(f, "objcopy --only-keep-debug prog prog.debug && strip prog && "
		    "objcopy --add-gnu-debuglink=prog.debug prog && echo x >>prog.debug"))
		skip();
	assert_string_equal(local_name(f, open_named(f, "prog")), "image_test_local");
}

/* The program has one; the debug file, of another content, has none. */
static void a_debug_file_without_build_id(void **state)
{
	struct fixture *f = *state;

	copy_self(f, "prog");
	if (!run(f,
		 "objcopy --only-keep-debug --remove-section=.note.gnu.build-id prog prog.debug && "
		 "strip prog && objcopy --add-gnu-debuglink=prog.debug prog && "
		 "echo x >>prog.debug"))
		skip();
	assert_string_equal(local_name(f, open_named(f, "prog")), "");
}

static void compressed_symbols(void **state)
{
	struct fixture *f = *state;

	copy_self(f, "prog");
	if (!run(f, "objcopy --only-keep-debug prog mini && strip --strip-debug mini && "
		    "xz --format=xz mini && strip prog && "
		    "objcopy --add-section .gnu_debugdata=mini.xz prog && rm mini.xz"))
		skip();
	assert_string_equal(local_name(f, open_named(f, "prog")), "image_test_local");
}

static void damaged_compressed_symbols(void **state)
{
	struct fixture *f = *state;

	copy_self(f, "prog");
	if (!run(f, "strip prog && head -c 5000 prog >mini.xz && "
		    "objcopy --add-section .gnu_debugdata=mini.xz prog"))
		skip();
	assert_string_equal(local_name(f, open_named(f, "prog")), "");
}

static void equal_files_are_one_image(void **state)
{
	struct fixture *f = *state;
	struct image *image;
	struct file_key key;
	char path[128];

	copy_self(f, "prog");
	image = open_named(f, "prog");
	assert_ptr_equal(open_named(f, "prog"), image);
	/* inode numbers are used again: the generation tells */
	snprintf(path, sizeof(path), "%s/prog", f->dir);
	key = key_of(path);
	key.generation = 5;
	assert_ptr_equal(image_cache_open(f->cache, &key, (uint32_t)getpid(), 1, 2, path), image);
	snprintf(path, sizeof(path), "%s/other", f->dir);
	assert_ptr_not_equal(image_cache_open(f->cache, &key, (uint32_t)getpid(), 1, 2, path),
			     image);
}

static void count_failure(const char *path, const char *why, void *data)
{
	assert_non_null(strstr(why, path));
	++*(int *)data;
}

static void a_file_that_is_gone(void **state)
{
	struct fixture *f = *state;
	struct file_key key = { 1, 2, 3, 4 };
	struct image *image = image_cache_open(f->cache, &key, (uint32_t)getpid(), 0x1000, 0x2000,
					       "/no/such/program");
	struct elf_symbol symbol;
	int failures = 0;

	assert_int_equal(image_state(image), IMAGE_FAILED);
	assert_string_equal(image_failure(image),
			    "cannot read /no/such/program: it was gone before it could be opened");
	image_load(f->cache, image);
	wait_for(f, image);
	assert_int_equal(image_state(image), IMAGE_FAILED);
	assert_false(image_find_symbol(image, 0x1000, &symbol));
	assert_string_equal(image_build_id(image), "");
	image_cache_for_each_failed(f->cache, count_failure, &failures);
	assert_int_equal(failures, 1);
}

static void another_file_under_the_same_name(void **state)
{
	struct fixture *f = *state;
	struct file_key key;
	struct image *image;
	char path[128];

	copy_self(f, "prog");
	snprintf(path, sizeof(path), "%s/prog", f->dir);
	key = key_of(path);
	key.inode += 1000000;
	image = image_cache_open(f->cache, &key, (uint32_t)getpid(), 0x1000, 0x2000, path);
	assert_int_equal(image_state(image), IMAGE_FAILED);
	assert_non_null(strstr(image_failure(image), "another file has its name now"));
}

/* A pipe must not be waited for, a device not be opened. */
static void what_is_no_file(void **state)
{
	struct fixture *f = *state;
	struct image *image;

	assert_true(run(f, "mkfifo pipe"));
	image = open_named(f, "pipe");
	assert_int_equal(image_state(image), IMAGE_FAILED);
	assert_true(run(f, "ln -s /dev/zero zero"));
	assert_int_equal(image_state(open_named(f, "zero")), IMAGE_FAILED);
}

static void what_is_no_elf_file(void **state)
{
	struct fixture *f = *state;
	struct image *image;
	uint64_t address;

	assert_true(run(f, "echo 'JIT code without a format' >jit"));
	image = open_named(f, "jit");
	wait_for(f, image);
	assert_int_equal(image_state(image), IMAGE_READY);
	assert_false(image_offset_to_address(image, 0, &address));
}

static void a_broken_elf_file(void **state)
{
	struct fixture *f = *state;
	struct image *image;

	assert_true(run(f, "printf '\\177ELF garbage' >broken"));
	image = open_named(f, "broken");
	wait_for(f, image);
	assert_int_equal(image_state(image), IMAGE_FAILED);
	assert_non_null(strstr(image_failure(image), "/broken: not an ELF file"));
}

/* The file of a live process that has deleted it. */
static void a_deleted_program_of_a_live_process(void **state)
{
	struct fixture *f = *state;
	struct registry *registry;
	struct process *process;
	struct mapping *mapping, *text = NULL;
	struct image *image;
	struct file_key key;
	char path[128];
	pid_t child;

	assert_true(run(f, "cp /bin/sleep prog"));
	snprintf(path, sizeof(path), "%s/prog", f->dir);
	child = fork();
	if (child == 0) {
		execl(path, "prog", "30", NULL);
		_exit(1);
	}
	registry = registry_new();
	for (int i = 0; i < 500 && !text; i++) {
		usleep(2000);
		registry_free(registry);
		registry = registry_new();
		process = registry_get(registry, (uint32_t)child, 0);
		vec_for_each (mapping, &process->mappings)
			if (strcmp(mapping->path, path) == 0)
				text = mapping;
	}
	assert_non_null(text);
	key = (struct file_key){ text->key.major, text->key.minor, text->key.inode, 0 };
	unlink(path);
	assert_true(run(f, "cp /bin/true prog")); /* its name is taken */
	image = image_cache_open(f->cache, &key, (uint32_t)child, text->start, text->end, path);
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	wait_for(f, image);
	assert_string_equal(image_failure(image), "");
	assert_int_equal(image_state(image), IMAGE_READY);
	registry_free(registry);
}

static void an_image_in_memory(void **state)
{
	struct fixture *f = *state;
	const void *vdso = (const void *)getauxval(AT_SYSINFO_EHDR); /* NOLINT */
	struct image *image;

	if (!vdso)
		skip();
	image = image_cache_add_memory(f->cache, "[vdso]", vdso, 2 * 4096UL);
	assert_int_equal(image_state(image), IMAGE_READY);
	assert_string_equal(image_path(image), "[vdso]");
	assert_ptr_equal(image_cache_add_memory(f->cache, "[vdso]", vdso, 2 * 4096UL), image);
	image = image_cache_add_memory(f->cache, "[bad]", "garbage", 7);
	assert_int_equal(image_state(image), IMAGE_FAILED);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(own_file_by_its_mapping),
		TEST(libc_has_names_and_a_build_id),
		TEST(a_stripped_file_has_no_local_names),
		TEST(debug_link_beside_the_file),
		TEST(debug_link_in_the_debug_directory),
		TEST(a_debug_file_that_others_may_write),
		TEST(a_debug_file_of_another_user),
		TEST(debug_link_checked_by_checksum),
		TEST(a_debug_file_of_another_build),
		TEST(debug_link_checked_by_build_id),
		TEST(a_debug_file_without_build_id),
		TEST(compressed_symbols),
		TEST(damaged_compressed_symbols),
		TEST(equal_files_are_one_image),
		TEST(a_file_that_is_gone),
		TEST(another_file_under_the_same_name),
		TEST(what_is_no_file),
		TEST(what_is_no_elf_file),
		TEST(a_broken_elf_file),
		TEST(a_deleted_program_of_a_live_process),
		TEST(an_image_in_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
