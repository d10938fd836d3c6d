// SPDX-License-Identifier: Apache-2.0
/* Which files have functions that give native memory, where those are, and whose calls are a function's own. */
#include "test.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "elf/elf_file.h"
#include "process/mappings.h"
#include "session/malloc/malloc_nested.h"

/* --- names --- */

static void test_kinds(void **state)
{
	(void)state;
	assert_int_equal(malloc_kind_of("/lib/x86_64-linux-gnu/libc.so.6"), MALLOC_LIBC);
	assert_int_equal(malloc_kind_of("/lib/x86_64-linux-gnu/libc-2.31.so"), MALLOC_LIBC);
	assert_int_equal(malloc_kind_of("/lib/ld-musl-x86_64.so.1"), MALLOC_LIBC);
	assert_int_equal(malloc_kind_of("/usr/lib/x86_64-linux-musl/libc.so"), MALLOC_LIBC);
	assert_int_equal(malloc_kind_of("/lib/libc.musl-x86_64.so.1"), MALLOC_LIBC);
	assert_int_equal(malloc_kind_of("/usr/lib/libjemalloc.so.2"), MALLOC_ALLOCATOR);
	assert_int_equal(malloc_kind_of("/usr/lib/libtcmalloc_minimal.so.4"), MALLOC_ALLOCATOR);
	assert_int_equal(malloc_kind_of("/usr/lib/libmimalloc.so.2.0 (deleted)"), MALLOC_ALLOCATOR);
	assert_int_equal(malloc_kind_of("/usr/bin/redis-server"), MALLOC_PROGRAM);
	assert_int_equal(malloc_kind_of("/usr/lib/malloc/prog"), MALLOC_PROGRAM);
	assert_int_equal(malloc_kind_of("/usr/lib/libstdc++.so.6"), MALLOC_NONE);
	assert_int_equal(malloc_kind_of("/usr/lib/libcrypt.so.1"), MALLOC_NONE);
	assert_int_equal(malloc_kind_of("[vdso]"), MALLOC_NONE);
	assert_int_equal(malloc_kind_of(""), MALLOC_NONE);
}

static unsigned int index_of(const char *name)
{
	for (unsigned int i = 0; i < MALLOC_FUNCTIONS; i++)
		if (!strcmp(malloc_functions[i].name, name))
			return i;
	fail_msg("no %s", name);
	return 0;
}

/* Each is there once, and what it says is of the function of that name. */
static void test_functions(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < MALLOC_FUNCTIONS; i++) {
		assert_non_null(malloc_functions[i].name);
		assert_int_equal(index_of(malloc_functions[i].name), i);
	}
	assert_int_equal(malloc_functions[index_of("malloc")].form, WIRE_MALLOC_SIZE);
	assert_int_equal(malloc_functions[index_of("je_calloc")].form, WIRE_MALLOC_ARRAY);
	assert_int_equal(malloc_functions[index_of("_rjem_rallocx")].form, WIRE_MALLOC_AGAIN);
	assert_int_equal(malloc_functions[index_of("mmap64")].form, WIRE_MALLOC_MAP);
	assert_int_equal(malloc_functions[index_of("_ZdlPvm")].form, WIRE_MALLOC_FREE);
	for (unsigned int i = 0; i < MALLOC_FUNCTIONS; i++)
		assert_int_equal(malloc_functions[i].form == WIRE_MALLOC_NEW,
				 !strncmp(malloc_functions[i].name, "_Zn", 3));
}

/* --- places --- */

static const struct elf_segment segments[] = {
	{ .offset = 0, .address = 0x400000, .file_size = 0x1000, .flags = PF_R },
	{ .offset = 0x1000, .address = 0x402000, .file_size = 0x8000, .flags = PF_R | PF_X },
};

static struct reader_function functions[MALLOC_FUNCTIONS];

static int none(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < MALLOC_FUNCTIONS; i++)
		functions[i] = (struct reader_function){ .address = READER_NOT_THERE };
	return 0;
}

static void put(const char *name, uint64_t address, uint64_t size)
{
	functions[index_of(name)] = (struct reader_function){ address, size, ELF_RANK_SHARED, 3 };
}

static struct malloc_file take(void)
{
	struct malloc_file file = { 0 };

	malloc_file_take(&file, functions, segments, ARRAY_SIZE(segments));
	return file;
}

static void test_places(void **state)
{
	struct malloc_file file;

	(void)state;
	put("malloc", 0x402100, 0x40);
	put("aligned_alloc", 0x402200, 0x40);
	put("memalign", 0x402200, 0x40); /* another name of that */
	put("calloc", 0x400100, 0x40);	 /* no code */
	put("realloc", 0x40a000, 0x40);	 /* behind the file's end */
	put("free", 0x402300, 0x40);
	file = take();
	assert_int_equal(file.places.len, 3);
	assert_int_equal(file.places.items[0].offset, 0x1100);
	assert_int_equal(file.places.items[0].probe, 0x1103);
	assert_int_equal(file.places.items[0].form, WIRE_MALLOC_SIZE);
	assert_int_equal(file.places.items[1].offset, 0x1200);
	assert_int_equal(file.places.items[1].form, WIRE_MALLOC_ALIGNED);
	assert_int_equal(file.places.items[2].form, WIRE_MALLOC_FREE);
	assert_null(malloc_file_place(&file, 0x10ff));
	assert_ptr_equal(malloc_file_place(&file, 0x1100), &file.places.items[0]);
	assert_ptr_equal(malloc_file_place(&file, 0x113f), &file.places.items[0]);
	assert_null(malloc_file_place(&file, 0x1140));
	/* free() gives nothing. */
	assert_null(malloc_file_place(&file, 0x1300));
	vec_release(&file.places);
}

/* A function of the file's own is none that others call; what glibc's call is no place to probe, but one that gives. */
static void test_own_functions(void **state)
{
	struct malloc_file file;

	(void)state;
	put("malloc", 0x402100, 0x40);
	put("calloc", 0x402200, 0x40);
	put("_int_malloc", 0x402300, 1ULL << 40);
	functions[index_of("calloc")].rank = ELF_RANK_SHARED - 1;
	functions[index_of("_int_malloc")].rank = ELF_RANK_SHARED - 1;
	file = take();
	assert_int_equal(file.places.len, 2);
	assert_int_equal(file.places.items[1].form, WIRE_MALLOC_FORMS);
	assert_non_null(malloc_file_place(&file, 0x1300));
	/* No function is so long. */
	assert_null(malloc_file_place(&file, 0x1300 + (1 << 20)));
	vec_release(&file.places);
}

static bool has_form(const struct malloc_file *file, enum wire_malloc_form form)
{
	const struct malloc_place *place;

	vec_for_each (place, &file->places)
		if (place->form == form)
			return true;
	return false;
}

/* No further than a probe may be, and not behind the function. */
static void test_probes(void **state)
{
	struct malloc_file file;

	(void)state;
	put("malloc", 0x402100, 3);
	put("calloc", 0x402200, 0x40);
	functions[index_of("calloc")].probe = 33;
	put("free", 0x402300, 4);
	file = take();
	assert_int_equal(file.places.len, 3);
	assert_int_equal(file.places.items[0].probe, 0x1100);
	assert_int_equal(file.places.items[1].probe, 0x1200);
	assert_int_equal(file.places.items[2].probe, 0x1303);
	vec_release(&file.places);
}

/* libstdc++'s operator new calls malloc(), an allocator's does not. */
static void test_operators(void **state)
{
	struct malloc_file file = { .kind = MALLOC_ALLOCATOR };

	(void)state;
	put("malloc", 0x402100, 0x40);
	put("_Znwm", 0x402200, 0x40);
	put("_ZdlPv", 0x402300, 0x40);
	malloc_file_take(&file, functions, segments, ARRAY_SIZE(segments));
	assert_int_equal(file.places.len, 3);
	assert_true(has_form(&file, WIRE_MALLOC_NEW));
	vec_release(&file.places);
	file = take();
	assert_int_equal(file.places.len, 1);
	vec_release(&file.places);
	put("je_mallocx", 0x402400, 0x40);
	file = take();
	assert_int_equal(file.places.len, 4);
	assert_true(has_form(&file, WIRE_MALLOC_NEW) && has_form(&file, WIRE_MALLOC_FREE));
	vec_release(&file.places);
}

/* Whoever has but a free() of his own has no memory. */
static void test_frees_only(void **state)
{
	struct malloc_file file;

	(void)state;
	put("free", 0x402300, 0x40);
	put("munmap", 0x402400, 0x40);
	file = take();
	assert_int_equal(file.places.len, 0);
	vec_release(&file.places);
}

/* --- files --- */

static struct process self;

static int read_self(void **state)
{
	(void)state;
	self.pid = (uint32_t)getpid();
	return mappings_read(&self);
}

static int forget_self(void **state)
{
	(void)state;
	mappings_clear(&self);
	return 0;
}

static const struct mapping *mapping_of(const char *part)
{
	const struct mapping *m;

	vec_for_each (m, &self.mappings)
		if (strstr(m->path, part))
			return m;
	fail_msg("no %s", part);
	return NULL;
}

/* The C library of this very process, and where its functions are in it. */
static void test_libc(void **state)
{
	const struct mapping *m = mapping_of("libc.so");
	struct malloc_files all = { 0 };
	const struct malloc_file *file = malloc_files_get(&all, self.pid, m);

	(void)state;
	assert_non_null(file);
	assert_int_equal(file->kind, MALLOC_LIBC);
	assert_ptr_equal(malloc_files_get(&all, self.pid, m), file);
	assert_ptr_equal(malloc_files_find(&all, &m->key), file);
	assert_int_equal(all.files.len, 1);
#if !defined(__SANITIZE_ADDRESS__) /* which has its own */
	void *(*volatile give)(size_t) = malloc;
	uint64_t offset = (uint64_t)(uintptr_t)give - m->start + m->pgoff;

	assert_non_null(malloc_file_place(file, offset));
	assert_int_equal(malloc_file_place(file, offset)->form, WIRE_MALLOC_SIZE);
	assert_int_equal(malloc_file_place(file, offset)->offset, offset);
#endif
	malloc_files_release(&all);
}

/* It is looked at once, as long as nobody says that its inode is another's. */
static void test_without(void **state)
{
	struct mapping m = *mapping_of("test_malloc_files");
	struct malloc_files all = { 0 };

	(void)state;
	assert_null(malloc_files_get(&all, self.pid, &m));
	assert_null(malloc_files_get(&all, self.pid, &m));
	assert_int_equal(all.without.len, 1);
	m.key.generation++;
	assert_null(malloc_files_get(&all, self.pid, &m));
	assert_int_equal(all.without.len, 2);
	m.key.inode = 0;
	assert_null(malloc_files_get(&all, self.pid, &m));
	assert_int_equal(all.without.len, 2);
	malloc_files_release(&all);
}

/* --- who calls whom --- */

#define LIBC	  0x7f0000000000ULL
#define JEMALLOC  0x7f1000000000ULL
#define APP	  0x550000000000ULL
#define MALLOC_AT 0x1100
#define CALLOC_AT 0x1200

static struct malloc_files known;
static struct process app;

static void add_file(const char *path, uint64_t inode, uint64_t start)
{
	char name[128];
	struct mapping m = { .start = start,
			     .end = start + 0x10000,
			     .key = { 8, 1, inode, 0 },
			     .path = strcpy(name, path) };

	mappings_add(&app, &m);
}

/* As if it had been read. */
static void add_known(const char *path, uint64_t inode)
{
	const uint64_t words[] = { 8ULL << 32 | 1, inode, 0 };
	struct malloc_file *file = xcalloc(1, sizeof(*file));

	none(NULL);
	put("malloc", 0x402100, 0x40);
	put("calloc", 0x402200, 0x40);
	*file = take();
	file->kind = malloc_kind_of(path);
	vec_push(&known.files, file);
	hmap_put_ptr(&known.by_key, hash_bytes(words, sizeof(words)), file);
}

static int make_app(void **state)
{
	(void)state;
	app.pid = 77;
	add_file("/lib/libc.so.6", 11, LIBC);
	add_file("/lib/libjemalloc.so.2", 12, JEMALLOC);
	add_file("/bin/app", 13, APP);
	add_known("/lib/libc.so.6", 11);
	add_known("/lib/libjemalloc.so.2", 12);
	add_known("/bin/app", 13);
	return 0;
}

static int drop_app(void **state)
{
	(void)state;
	mappings_clear(&app);
	malloc_files_release(&known);
	known = (struct malloc_files){ 0 };
	return 0;
}

/* A sample of a stack, whose first frame is exact. */
static bool nested(bool pages, unsigned int count, const uint64_t *frames)
{
	union {
		struct wire_sample sample;
		char bytes[sizeof(struct wire_sample) + 64 * sizeof(uint64_t)];
	} u = { .sample = { .flags = WIRE_SAMPLE_NATIVE, .alloc_class = pages } };

	u.sample.user_words = u.sample.user_frames = (uint16_t)count;
	u.sample.size = (uint32_t)(sizeof(u.sample) + count * sizeof(uint64_t));
	memcpy(u.sample.words, frames, count * sizeof(uint64_t));
	if (count)
		u.sample.words[0] |= WIRE_FRAME_EXACT;
	return malloc_is_nested(&known, &app, &u.sample);
}

#define NESTED(pages, ...)                                                          \
	nested(pages, sizeof((const uint64_t[]){ __VA_ARGS__ }) / sizeof(uint64_t), \
	       (const uint64_t[]){ __VA_ARGS__ })

static void test_nested(void **state)
{
	(void)state;
	/* app > malloc */
	assert_false(NESTED(false, LIBC + MALLOC_AT, APP + 0x3000));
	assert_false(NESTED(false, LIBC + MALLOC_AT));
	/* app > calloc > something > malloc */
	assert_true(
		NESTED(false, LIBC + MALLOC_AT, LIBC + 0x5000, LIBC + CALLOC_AT + 8, APP + 0x3000));
	/* app > fopen > malloc */
	assert_false(NESTED(false, LIBC + MALLOC_AT, LIBC + 0x5000, APP + 0x3000));
	/* A return address behind a function's end is of its last call. */
	assert_true(NESTED(false, LIBC + MALLOC_AT, LIBC + CALLOC_AT + 0x40, APP + 0x3000));
	assert_false(NESTED(false, LIBC + MALLOC_AT, LIBC + CALLOC_AT, APP + 0x3000));
	/* A program's own malloc() that asks the library's. */
	assert_true(NESTED(false, LIBC + MALLOC_AT, APP + MALLOC_AT + 4, APP + 0x3000));
	/* Any code of an allocator calls for it. */
	assert_true(NESTED(false, LIBC + MALLOC_AT, JEMALLOC + 0x7000, APP + 0x3000));
	assert_false(NESTED(false, JEMALLOC + MALLOC_AT, APP + 0x3000));
}

/* What a thread compiles stands before the function itself. */
static void test_nested_in_a_compiler(void **state)
{
	const uint64_t compiling = (uint64_t)WIRE_FRAME_COMPILING << WIRE_FRAME_KIND_SHIFT;

	(void)state;
	assert_true(NESTED(false, compiling, 8, 16, 0, 7, LIBC + MALLOC_AT, LIBC + CALLOC_AT + 8,
			   APP + 0x3000));
	assert_false(NESTED(false, compiling, 8, 16, 0, 7, LIBC + CALLOC_AT + 8, APP + 0x3000));
}

static void test_nested_pages(void **state)
{
	(void)state;
	/* A function that malloc() has jumped to wants pages. */
	assert_true(NESTED(true, LIBC + 0x6000, LIBC + 0x5000, APP + 0x3000));
	assert_false(NESTED(false, LIBC + 0x6000, LIBC + 0x5000, APP + 0x3000));
	assert_false(NESTED(true, LIBC + 0x6000, APP + 0x3000, LIBC + 0x5000));
	assert_true(NESTED(true, LIBC + 0x6000, JEMALLOC + 0x5000, APP + 0x3000));
}

/* Java between is no allocator's. */
static void test_java_between(void **state)
{
	const uint64_t interpreted = (uint64_t)WIRE_FRAME_COMPILED << WIRE_FRAME_KIND_SHIFT;

	(void)state;
	assert_false(
		NESTED(false, LIBC + MALLOC_AT, interpreted | 0x7000, 5, LIBC + CALLOC_AT + 8));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_functions),
		cmocka_unit_test_setup(test_places, none),
		cmocka_unit_test_setup(test_own_functions, none),
		cmocka_unit_test_setup(test_probes, none),
		cmocka_unit_test_setup(test_operators, none),
		cmocka_unit_test_setup(test_frees_only, none),
		cmocka_unit_test_setup_teardown(test_libc, read_self, forget_self),
		cmocka_unit_test_setup_teardown(test_without, read_self, forget_self),
		cmocka_unit_test_setup_teardown(test_nested, make_app, drop_app),
		cmocka_unit_test_setup_teardown(test_nested_in_a_compiler, make_app, drop_app),
		cmocka_unit_test_setup_teardown(test_nested_pages, make_app, drop_app),
		cmocka_unit_test_setup_teardown(test_java_between, make_app, drop_app),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
