// SPDX-License-Identifier: Apache-2.0
/* Files that stay open, as names are read of them when they are wanted. */
#include "image_fixture.h"

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

/* A file with one function at 0x1000; what its symbols take in the file. */
static uint64_t write_program(const struct fixture *f, const char *name)
{
	char function[801] = "";
	struct made_symbols table;
	struct elf_file *file;
	struct cfi_elf elf;
	uint64_t bytes;

	memset(function, 'f', sizeof(function) - 1);
	made_begin(&elf);
	made_symbols_begin(&table);
	made_function(&table, function, 0x1000, 16);
	made_table(&elf, ".symtab", SHT_SYMTAB, &table);
	cfi_elf_segment(&elf, PT_LOAD, PF_R | PF_X, 0x1000, 0x20);
	file = made_open(&elf, 0);
	bytes = elf_file_symbol_bytes(file);
	write_named(f, name, elf.bytes.buf, elf.bytes.len);
	made_close(&elf, file);
	return bytes;
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

static int count_descriptors(void)
{
	int n = 0;

	for (int fd = 0; fd < 2048; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* Of 128 files that names are read of the next one takes the place of the oldest; those go that nobody maps, ten seconds later. */
static void files_of_names_are_counted(void **state)
{
	enum { FILES = 130, MOST = 128 };
	struct fixture *f = *state;
	uint64_t bytes = write_program(f, "first");
	struct image *first, *second = NULL, *wanted = NULL;
	int before = count_descriptors();
	char name[16];

	image_cache_set_parse_limit(f->cache, 3 * bytes - 1);
	first = load(f, "first");
	for (int i = 1; i < FILES; i++) {
		snprintf(name, sizeof(name), "n%d", i);
		write_program(f, name);
		wanted = load(f, name);
		if (i == 1)
			second = wanted;
		/* The first is asked for again and again. */
		assert_ptr_equal(open_named(f, "first"), first);
		assert_int_equal(count_descriptors() - before, MIN(i + 1, MOST));
	}
	assert_int_equal(image_state(first), IMAGE_READY);
	assert_int_equal(image_state(second), IMAGE_DROPPED);
	image_want(wanted);
	image_cache_close_idle(f->cache);
	assert_int_equal(count_descriptors() - before, 1);
	assert_true(has_function(wanted));
	assert_int_equal(image_state(first), IMAGE_DROPPED);
	image_unwant(wanted);
}

#define TEST(fn) cmocka_unit_test_setup_teardown(fn, setup_cache, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(files_of_names_are_counted),
	};

	return cmocka_run_group_tests_name("image_names", tests, NULL, NULL);
}
