/* SPDX-License-Identifier: Apache-2.0 */
#include "image_fixture.h"

#include <errno.h>
#include <inttypes.h>

#include "elf/image_index.h"
#include "peak_memory.h"

static int count_descriptors(void)
{
	int n = 0;

	for (int fd = 0; fd < 2048; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static void open_files_are_bounded(void **state)
{
	struct fixture *f = *state;
	int before = count_descriptors();
	struct image *first = NULL;
	char name[16];

	assert_true(run(f, "i=0; while [ $i -lt 700 ]; do cp /bin/true f$i; i=$((i+1)); done"));
	for (int i = 0; i < 700; i++) {
		struct image *image;

		snprintf(name, sizeof(name), "f%d", i);
		image = open_named(f, name);
		assert_int_not_equal(image_state(image), IMAGE_FAILED);
		first = first ? first : image;
	}
	worker_pool_drain(f->pool);
	assert_true(count_descriptors() - before <= 520);
	assert_int_equal(image_state(first), IMAGE_READY); /* parsed, not dropped */
}

static void idle_files_are_closed(void **state)
{
	struct fixture *f = *state;
	int before = count_descriptors();
	struct image *image;

	copy_self(f, "prog");
	image = open_named(f, "prog");
	assert_int_equal(count_descriptors(), before + 1);
	image_cache_close_idle(f->cache);
	image_cache_close_idle(f->cache);
	assert_int_equal(count_descriptors(), before);
	assert_int_equal(image_state(image), IMAGE_DROPPED);
	assert_ptr_equal(open_named(f, "prog"), image);
	image_cache_close_idle(f->cache);
	assert_int_equal(image_state(image), IMAGE_NEW);
	assert_string_equal(local_name(f, image), "image_test_local");
	image_cache_close_idle(f->cache);
	image_cache_close_idle(f->cache);
	assert_int_equal(image_state(image), IMAGE_READY);
	assert_int_equal(count_descriptors(), before);
}

/* No room for any symbols: what was not asked for since the last parse goes. */
static void symbols_are_bounded(void **state)
{
	struct fixture *f = *state;
	uint64_t start = 0, limit = 0, offset = 0, address = 1;
	struct image *first, *second;
	struct elf_symbol symbol;

	image_cache_set_limit(f->cache, 1);
	copy_self(f, "first");
	copy_self(f, "second");
	copy_self(f, "third");
	first = open_named(f, "first");
	assert_string_equal(local_name(f, first), "image_test_local");
	second = open_named(f, "second");
	assert_string_equal(local_name(f, second), "image_test_local");
	assert_int_equal(image_state(first), IMAGE_READY);
	assert_string_equal(local_name(f, open_named(f, "third")), "image_test_local");
	assert_int_equal(image_state(first), IMAGE_DROPPED);
	assert_int_equal(image_state(second), IMAGE_READY);
	assert_false(image_find_symbol(first, f->local_address, &symbol));
	assert_int_equal(strlen(image_build_id(first)), 40);
	/* the addresses of its code are still known */
	image_text_range(first, &start, &limit, &offset);
	assert_true(image_offset_to_address(first, offset, &address));
	assert_int_equal(address, start);
	assert_true(limit > start);
	/* it comes back when it is asked for */
	assert_ptr_equal(open_named(f, "first"), first);
	assert_string_equal(local_name(f, first), "image_test_local");
}

static void note_reason(const char *path, const char *why, void *data)
{
	assert_non_null(strstr(path, "/prog"));
	assert_non_null(strstr(why, "more than --memory-limit leaves"));
	++*(int *)data;
}

/* A table too large to be read: the file has no names, and that is reported. */
static void large_symbols_are_left_out(void **state)
{
	struct fixture *f = *state;
	struct elf_symbol symbol;
	struct image *image;
	uint64_t address;
	int reported = 0;

	image_cache_set_parse_limit(f->cache, 1000);
	copy_self(f, "prog");
	image = open_named(f, "prog");
	wait_for(f, image);
	assert_int_equal(image_state(image), IMAGE_READY);
	assert_false(image_find_symbol(image, f->local_address, &symbol));
	assert_int_equal(strlen(image_build_id(image)), 40);
	assert_true(image_offset_to_address(image, 0, &address));
	image_cache_for_each_failed(f->cache, note_reason, &reported);
	assert_int_equal(reported, 1);
}

/* With such a limit not even what was just asked for stays when there is no room. */
static void memory_comes_before_symbols(void **state)
{
	struct fixture *f = *state;
	struct image *first, *second;

	image_cache_set_limit(f->cache, 1);
	image_cache_set_parse_limit(f->cache, 64UL << 20);
	copy_self(f, "first");
	copy_self(f, "second");
	first = open_named(f, "first");
	assert_string_equal(local_name(f, first), "image_test_local");
	second = open_named(f, "second");
	assert_string_equal(local_name(f, second), "image_test_local");
	image_cache_shrink(f->cache, false);
	assert_int_equal(image_state(first), IMAGE_DROPPED);
	assert_int_equal(image_state(second), IMAGE_DROPPED);
}

/* The descriptor is there until the file was parsed. */
static void descriptor_is_shared(void **state)
{
	struct fixture *f = *state;
	struct image *image;
	char magic[4];
	int fd;

	copy_self(f, "prog");
	image = open_named(f, "prog");
	assert_true(run(f, "rm prog"));
	fd = image_dup_fd(image);
	assert_true(fd >= 0);
	wait_for(f, image);
	assert_int_equal(image_dup_fd(image), -ENODATA);
	assert_int_equal(pread(fd, magic, 4, 0), 4);
	assert_memory_equal(magic, "\177ELF", 4);
	close(fd);
}

/* 40 MB of paths, of files that nobody can open: past some the last name does. */
static void paths_are_bounded(void **state)
{
	enum { FILES = 10000, LENGTH = 4000 };
	struct fixture *f = *state;
	struct file_key key = { .major = 4711, .inode = 1 };
	char path[LENGTH + 32];
	size_t began = peak_begin();
	struct image *last = NULL;

	memset(path, 'x', LENGTH);
	path[0] = '/';
	for (key.inode = 1; key.inode <= FILES; key.inode++) {
		snprintf(path + LENGTH, 32, "/%u", (unsigned int)key.inode);
		last = image_cache_open(f->cache, &key, 0, 0, 0, path);
	}
	assert_true(peak_end(began) < 24 * MIB);
	assert_string_equal(image_path(last), ".../10000");
	/* It is found again, also where the kernel adds a word. */
	key.inode = FILES;
	assert_ptr_equal(image_cache_open(f->cache, &key, 0, 0, 0, path), last);
	snprintf(path + LENGTH, 32, "/%u (deleted)", FILES);
	assert_ptr_equal(image_cache_open(f->cache, &key, 0, 0, 0, path), last);
	snprintf(path + LENGTH, 32, "/%u", FILES + 1);
	assert_ptr_not_equal(image_cache_open(f->cache, &key, 0, 0, 0, path), last);
	/* One that is short stays as it is. */
	key.inode = FILES + 2;
	last = image_cache_open(f->cache, &key, 0, 0, 0, "/lib/libshort.so");
	assert_string_equal(image_path(last), "/lib/libshort.so");
}

static const char *failure_of(struct fixture *f, uint64_t inode, uint32_t pid)
{
	const struct file_key key = { .major = 250, .inode = inode };
	char path[64];

	snprintf(path, sizeof(path), "/no/such/%" PRIu64, inode);
	return image_failure(
		image_cache_open(f->cache, &key, pid, inode * 4096, inode * 4096 + 4096, path));
}

/* Each look at a file takes the loop's time: of one process there are so many in ten seconds. */
static void looks_are_bounded(void **state)
{
	const uint32_t pid = (uint32_t)getpid();
	struct fixture *f = *state;

	for (uint64_t i = 1; i <= IMAGE_MAX_LOOKS; i++)
		assert_non_null(strstr(failure_of(f, i, pid), "it was gone"));
	assert_non_null(strstr(failure_of(f, 5000, pid), "more files than are looked at"));
	assert_null(strstr(failure_of(f, 5001, 1), "more files"));
	image_cache_close_idle(f->cache);
	assert_non_null(strstr(failure_of(f, 5000, pid), "it was gone"));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(open_files_are_bounded),	   TEST(idle_files_are_closed),
		TEST(symbols_are_bounded),	   TEST(large_symbols_are_left_out),
		TEST(memory_comes_before_symbols), TEST(descriptor_is_shared),
		TEST(paths_are_bounded),	   TEST(looks_are_bounded),
	};

	return cmocka_run_group_tests_name("image_limits", tests, NULL, NULL);
}
