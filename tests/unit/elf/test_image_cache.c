// SPDX-License-Identifier: Apache-2.0
/* Which images are kept, dropped and opened again; without a worker, so that each step is known. */
#include "image_fixture.h"

#include <errno.h>

#include "elf/symbols.h"
#include "made_elf.h"

static int setup_cache(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	strcpy(f->dir, "/tmp/hostprof-image-XXXXXX");
	if (!mkdtemp(f->dir))
		return -1;
	f->cache = image_cache_new(NULL);
	return 0;
}

static void write_named(const struct fixture *f, const char *name, const void *data, size_t len)
{
	_cleanup_close_ int fd = -1;
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", f->dir, name);
	fd = open(path, O_CREAT | O_WRONLY | O_TRUNC | O_CLOEXEC, 0700);
	assert_int_equal(write(fd, data, len), len);
}

/* A file with one function at 0x1000; what its symbols take in the file and in memory. */
struct sizes {
	uint64_t in_file, in_memory;
};

static struct sizes write_program(const struct fixture *f, const char *name)
{
	struct symbols_builder builder = { 0 };
	struct made_symbols table;
	struct symbols symbols;
	struct elf_file *file;
	struct cfi_elf elf;
	struct sizes sizes;
	char function[801];

	memset(function, 'f', sizeof(function));
	function[sizeof(function) - 1] = '\0';
	made_begin(&elf);
	made_symbols_begin(&table);
	made_function(&table, function, 0x1000, 16);
	made_table(&elf, ".symtab", SHT_SYMTAB, &table);
	cfi_elf_segment(&elf, PT_LOAD, PF_R | PF_X, 0x1000, 0x20);
	file = made_open(&elf, 0);
	symbols_builder_add(&builder, file);
	symbols_build(&builder, file, &symbols);
	sizes = (struct sizes){ elf_file_symbol_bytes(file), symbols_bytes(&symbols) };
	symbols_release(&symbols);
	write_named(f, name, elf.bytes.buf, elf.bytes.len);
	made_close(&elf, file);
	return sizes;
}

static struct image *load(struct fixture *f, const char *name)
{
	struct image *image = open_named(f, name);

	image_load(f->cache, image);
	assert_int_equal(image_state(image), IMAGE_READY);
	return image;
}

static bool has_function(struct image *image)
{
	struct elf_symbol symbol;

	return image_find_symbol(image, 0x1008, &symbol);
}

static void expect_states(struct image *const *images, const char *expected)
{
	char states[8] = { 0 };

	for (size_t i = 0; expected[i]; i++)
		states[i] = image_state(images[i]) == IMAGE_READY ? 'r' : 'd';
	assert_string_equal(states, expected);
}

/* In turn, those that nobody asked for since it was their turn before; to the last byte. */
static void room_for_three(void **state)
{
	static const char *const names[] = { "a", "b", "c", "d", "e", "f" };
	struct fixture *f = *state;
	struct image *images[6];
	size_t bytes = 0;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		bytes = write_program(f, names[i]).in_memory;
	image_cache_set_limit(f->cache, 3 * bytes);
	for (size_t i = 0; i < 4; i++)
		images[i] = load(f, names[i]);
	/* All of them were in use until now. */
	expect_states(images, "rrrr");
	images[4] = load(f, "e");
	expect_states(images, "ddrrr");
	assert_false(has_function(images[0]));
	images[5] = load(f, "f");
	expect_states(images, "dddrrr");
	assert_int_equal(image_cache_parsed(f->cache), 6);
	/* What comes back takes its room again, not of what was asked for. */
	load(f, "a");
	expect_states(images, "rddrrr");
	assert_true(has_function(images[3]));
	load(f, "b");
	expect_states(images, "rrdrdd");
	image_cache_shrink(f->cache, false);
	expect_states(images, "dddddd");
}

static int count_ready(struct image *const *images, size_t count)
{
	int ready = 0;

	for (size_t i = 0; i < count; i++)
		ready += image_state(images[i]) == IMAGE_READY;
	return ready;
}

/* Whose symbols somebody will ask for goes after all others, however long ago it was asked for; but it goes. */
static void wanted_ones_last(void **state)
{
	static const char *const names[] = { "a", "b", "c", "d", "e", "f" };
	struct fixture *f = *state;
	struct image *images[6];
	size_t bytes = 0;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		bytes = write_program(f, names[i]).in_memory;
	image_cache_set_limit(f->cache, 3 * bytes);
	image_cache_set_parse_limit(f->cache, 4 * bytes);
	image_want(images[0] = load(f, "a"));
	image_want(images[1] = load(f, "b"));
	for (size_t round = 0; round < 5; round++)
		for (size_t i = 2; i < 6; i++) {
			images[i] = load(f, names[i]);
			expect_states(images, "rr");
		}
	/* Five are wanted: as many as a quarter of the other limit has room for are there beyond theirs. */
	for (size_t i = 2; i < 5; i++)
		image_want(images[i] = load(f, names[i]));
	assert_int_equal(count_ready(images, 5), 4);
	assert_int_equal(image_state(images[5]), IMAGE_DROPPED);
	image_cache_shrink(f->cache, false);
	assert_int_equal(count_ready(images, 5), 4);
	image_unwant(images[4]);
	image_cache_shrink(f->cache, false);
	assert_int_equal(image_state(images[4]), IMAGE_DROPPED);
	assert_int_equal(count_ready(images, 5), 3);
	/* An eighth of the limit stays in any case. */
	image_cache_set_limit(f->cache, 16 * bytes);
	image_cache_shrink(f->cache, true);
	assert_int_equal(count_ready(images, 6), 2);
	image_cache_set_limit(f->cache, 3 * bytes);
	image_cache_shrink(f->cache, true);
	assert_int_equal(count_ready(images, 6), 0);
}

/* Without being told, there is room for all that a test has. */
static void room_by_default(void **state)
{
	struct fixture *f = *state;
	struct image *images[2];
	char name[2] = "a";

	for (int round = 0; round < 2; round++)
		for (int i = 0; i < 5; i++) {
			name[0] = (char)('a' + i);
			write_program(f, name);
			images[i % 2] = load(f, name);
		}
	assert_int_equal(image_cache_parsed(f->cache), 5);
	expect_states(images, "rr");
}

/* With a limit of what may be read, a quarter of it is all that images in use may take beyond theirs. */
static void in_use_beyond_the_limit(void **state)
{
	struct fixture *f = *state;
	struct image *images[2];
	size_t bytes = write_program(f, "a").in_memory;

	write_program(f, "b");
	image_cache_set_limit(f->cache, bytes);
	image_cache_set_parse_limit(f->cache, 4 * bytes);
	images[0] = load(f, "a");
	images[1] = load(f, "b");
	expect_states(images, "rr");
	image_cache_shrink(f->cache, false);
	image_cache_set_parse_limit(f->cache, 4 * bytes - 1);
	images[0] = load(f, "a");
	images[1] = load(f, "b");
	expect_states(images, "dr");
}

static void note_failure(const char *path, const char *why, void *data)
{
	strbuf_addf(data, "%s: %s\n", strrchr(path, '/') ? strrchr(path, '/') : path, why);
}

static int count_descriptors(void)
{
	int n = 0;

	for (int fd = 0; fd < 2048; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/*
 * Reading takes three times what there is in the file: just that, or a byte less, and names stay in the file; without room for
 * addresses there are none.
 */
static void symbols_that_may_be_read(void **state)
{
	_cleanup_strbuf_ struct strbuf failures = STRBUF_INIT;
	struct fixture *f = *state;
	uint64_t bytes = write_program(f, "prog").in_file;
	struct image *image;
	int open;

	image_cache_set_parse_limit(f->cache, 3 * bytes);
	image = load(f, "prog");
	assert_true(has_function(image));
	image_cache_for_each_failed(f->cache, note_failure, &failures);
	assert_string_equal(strbuf_str(&failures), "");
	image_cache_shrink(f->cache, false);
	open = count_descriptors();
	image_cache_set_parse_limit(f->cache, 3 * bytes - 1);
	assert_ptr_equal(load(f, "prog"), image);
	assert_int_equal(count_descriptors(), open + 1);
	assert_true(has_function(image));
	assert_int_equal(count_descriptors(), open + 1);
	image_cache_shrink(f->cache, false);
	assert_int_equal(count_descriptors(), open);
	image_cache_set_parse_limit(f->cache, 10);
	assert_ptr_equal(load(f, "prog"), image);
	assert_false(has_function(image));
	image_cache_for_each_failed(f->cache, note_failure, &failures);
	assert_non_null(strstr(strbuf_str(&failures), "/prog: the symbols of /"));
	assert_non_null(strstr(strbuf_str(&failures), "/prog take "));
	assert_non_null(
		strstr(strbuf_str(&failures), ": more than --memory-limit leaves for one file\n"));
}

/* 512 files are open, not one more; those that were opened first are parsed for it. */
static void open_files_are_counted(void **state)
{
	enum { FILES = 1100, OPEN = 512 };
	struct fixture *f = *state;
	int before = count_descriptors();
	struct image **images = calloc(FILES, sizeof(*images));
	char name[16];

	for (int i = 0; i < FILES; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		write_named(f, name, "text", 4);
		images[i] = open_named(f, name);
		if (i % 128 == 127)
			assert_int_equal(count_descriptors() - before, MIN(i + 1, OPEN));
	}
	for (int i = 0; i < FILES; i++)
		assert_int_equal(image_state(images[i]),
				 i < FILES - OPEN ? IMAGE_READY : IMAGE_NEW);
	image_cache_close_idle(f->cache);
	image_cache_close_idle(f->cache);
	assert_int_equal(count_descriptors(), before);
	for (int i = FILES - OPEN; i < FILES; i++)
		assert_int_equal(image_state(images[i]), IMAGE_DROPPED);
	/* There is room again. */
	for (int i = 0; i < OPEN; i++) {
		snprintf(name, sizeof(name), "f%d", FILES - 1 - i);
		assert_ptr_equal(open_named(f, name), images[FILES - 1 - i]);
	}
	assert_int_equal(count_descriptors() - before, OPEN);
	assert_int_equal(image_cache_parsed(f->cache), FILES - OPEN);
	free(images);
}

/* A file may wait from one call to the next; one that was parsed is in nobody's way. */
static void idle_since_the_call_before(void **state)
{
	struct fixture *f = *state;
	struct image *first, *loaded, *second;

	write_program(f, "first");
	write_program(f, "loaded");
	write_program(f, "second");
	loaded = load(f, "loaded");
	first = open_named(f, "first");
	image_cache_close_idle(f->cache);
	second = open_named(f, "second");
	assert_int_equal(image_state(first), IMAGE_NEW);
	image_cache_close_idle(f->cache);
	assert_int_equal(image_state(first), IMAGE_DROPPED);
	assert_int_equal(image_state(second), IMAGE_NEW);
	image_cache_close_idle(f->cache);
	assert_int_equal(image_state(second), IMAGE_DROPPED);
	assert_int_equal(image_state(loaded), IMAGE_READY);
	assert_int_equal(image_dup_fd(second), -ENODATA);
	/* What cannot be opened now was read before: it says so, and has its addresses. */
	assert_ptr_equal(open_named(f, "first"), first);
	assert_true(image_dup_fd(first) >= 0);
}

/* --- which file it is --- */

static struct image *open_as(struct fixture *f, struct file_key key, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", f->dir, name);
	return image_cache_open(f->cache, &key, (uint32_t)getpid(), 1, 2, path);
}

static void files_of_one_inode(void **state)
{
	struct fixture *f = *state;
	struct file_key key, other;
	struct image *image, *second, *third;
	char path[128];

	write_program(f, "prog");
	snprintf(path, sizeof(path), "%s/prog", f->dir);
	key = key_of(path);
	image = open_as(f, key, "prog");
	/* The same after it was deleted, also if that is how it was first seen. */
	assert_ptr_equal(open_as(f, key, "prog (deleted)"), image);
	second = open_as(f, key, "gone (deleted)");
	assert_ptr_not_equal(second, image);
	assert_ptr_equal(open_as(f, key, "gone"), second);
	assert_ptr_not_equal(open_as(f, key, "prog (deleted)x"), image);
	assert_ptr_not_equal(open_as(f, key, "pro"), image);
	/* A generation tells, where both have one. */
	key.generation = 5;
	third = open_as(f, key, "third");
	other = key;
	other.generation = 6;
	assert_ptr_not_equal(open_as(f, other, "third"), third);
	/* Under another name it is told apart: a name is what one process calls it. */
	assert_ptr_not_equal(open_as(f, key, "another name"), third);
	/* Another device, another inode: another file. */
	other = key;
	other.major++;
	assert_ptr_not_equal(open_as(f, other, "third"), third);
	other = key;
	other.minor++;
	assert_ptr_not_equal(open_as(f, other, "third"), third);
	other = key;
	other.inode++;
	assert_ptr_not_equal(open_as(f, other, "third"), third);
	assert_ptr_equal(open_as(f, key, "third"), third);
}

/* What could not be opened may be openable for the next process; what is damaged stays so. */
struct marker {
	struct worker_job job;
	bool done;
};

static void wait_a_moment(struct worker_job *job)
{
	(void)job;
	usleep(20000);
}

static void note_done(struct worker_job *job)
{
	container_of(job, struct marker, job)->done = true;
}

/* A cache that goes waits for what is being parsed for it, whichever image that is. */
static void the_end_waits(void **state)
{
	struct fixture *f = *state;

	image_cache_free(NULL);
	for (int loading = 0; loading < 2; loading++) {
		struct marker before = { { wait_a_moment, note_done, NULL }, false };
		struct image_cache *cache;
		struct worker_pool *pool;
		struct file_key key;
		char path[128];
		struct err err;

		assert_int_equal(worker_pool_new(1, &pool, &err), 0);
		cache = image_cache_new(pool);
		worker_pool_submit(pool, &before.job);
		for (int i = 0; i < 2; i++) {
			struct image *image;

			write_program(f, i ? "second" : "first");
			snprintf(path, sizeof(path), "%s/%s", f->dir, i ? "second" : "first");
			key = key_of(path);
			image = image_cache_open(cache, &key, (uint32_t)getpid(), 1, 2, path);
			if (i == loading)
				image_load(cache, image);
		}
		image_cache_free(cache);
		assert_true(before.done);
		worker_pool_free(pool);
	}
}

static void another_try(void **state)
{
	struct fixture *f = *state;
	struct file_key key;
	struct image *image;
	char path[128];

	write_program(f, "prog");
	snprintf(path, sizeof(path), "%s/prog", f->dir);
	key = key_of(path);
	assert_true(run(f, "mv prog away"));
	image = open_as(f, key, "prog");
	assert_int_equal(image_state(image), IMAGE_FAILED);
	assert_int_equal(image_dup_fd(image), -ENODATA);
	assert_true(run(f, "mv away prog"));
	assert_ptr_equal(open_as(f, key, "prog"), image);
	assert_int_equal(image_state(image), IMAGE_NEW);
	assert_string_equal(image_failure(image), "");
	write_named(f, "prog", "\177ELF", 4);
	image_load(f->cache, image);
	assert_int_equal(image_state(image), IMAGE_FAILED);
	assert_ptr_equal(open_as(f, key, "prog"), image);
	assert_int_equal(image_state(image), IMAGE_FAILED);
	assert_non_null(strstr(image_failure(image), "/prog: not an ELF file"));
}

static void why_it_was_not_opened(void **state)
{
	_cleanup_strbuf_ struct strbuf failures = STRBUF_INIT;
	struct file_key key = { 1, 2, 3, 4 };
	struct fixture *f = *state;

	assert_true(run(f, "mkfifo pipe; ln -s loop loop; echo >other"));
	open_named(f, "pipe");
	open_as(f, key, "gone");
	open_as(f, key, "other");
	key.inode++;
	open_as(f, key, "loop");
	image_cache_add_memory(f->cache, "[bytes]", "bytes", 5);
	image_cache_for_each_failed(f->cache, note_failure, &failures);
	assert_non_null(strstr(strbuf_str(&failures), "/pipe: it is no regular file\n"));
	assert_non_null(
		strstr(strbuf_str(&failures), "/gone: it was gone before it could be opened\n"));
	assert_non_null(
		strstr(strbuf_str(&failures), "/loop: Too many levels of symbolic links\n"));
	assert_non_null(
		strstr(strbuf_str(&failures), "[bytes]: cannot read [bytes]: not an ELF file\n"));
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup_cache, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_end_waits),
		TEST(room_for_three),
		TEST(room_by_default),
		TEST(wanted_ones_last),
		TEST(in_use_beyond_the_limit),
		TEST(symbols_that_may_be_read),
		TEST(open_files_are_counted),

		TEST(idle_since_the_call_before),
		TEST(files_of_one_inode),
		TEST(another_try),
		TEST(why_it_was_not_opened),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
