// SPDX-License-Identifier: Apache-2.0
/* What readers bring is what is in the file, and nothing one says is believed. */
#include "reader_world.h"

#include "elf/elf_limits.h"

/* --- what it brings --------------------------------------------------------------------------- */

static void names(void **state)
{
	_cleanup_strbuf_ struct strbuf longest = STRBUF_INIT;

	(void)state;
	expect_demangled(MANGLED, NAME);
	expect_demangled("main", NULL);
	expect_demangled("_Znothing", NULL);
	expect_demangled("_GLOBAL__I_a", "global constructors keyed to a");
	strbuf_addstr(&longest, "_Z");
	while (longest.len < 5000)
		strbuf_addstr(&longest, "1");
	expect_demangled(strbuf_str(&longest), NULL);
}

static void expect_same_symbols(const struct symbols *a, const struct symbols *b)
{
	assert_int_equal(a->ranges.len, b->ranges.len);
	assert_int_equal(a->name_bytes, b->name_bytes);
	for (size_t i = 0; i < a->ranges.len; i++) {
		assert_int_equal(a->ranges.items[i].address, b->ranges.items[i].address);
		assert_int_equal(a->ranges.items[i].size, b->ranges.items[i].size);
		assert_int_equal(a->ranges.items[i].name, b->ranges.items[i].name);
	}
	assert_memory_equal(a->names, b->names, a->name_bytes - 1);
	assert_int_equal(a->bounds.base, b->bounds.base);
	assert_int_equal(a->bounds.v.len, b->bounds.v.len);
	if (a->bounds.v.len)
		assert_memory_equal(a->bounds.v.items, b->bounds.v.items,
				    a->bounds.v.len * sizeof(struct bound));
}

/* What a reader brings is what is in the file. */
static void a_file_of_code(void **state)
{
	_cleanup_close_ int fd = open_self();
	struct image_parse parse = IMAGE_PARSE_INIT;
	struct image_content content;
	const struct elf_segment *segments;
	struct symbols symbols;
	struct err err;

	(void)state;
	image_content_read(fd, 0, "self", SIZE_MAX, &content);
	assert_null(content.failure);
	assert_null(content.left_out);
	assert_int_equal(strlen(content.build_id), 40);
	assert_int_equal(image_parse_open(&parse, dup(fd), SIZE_MAX, &err), 0);
	image_parse_own(&parse);
	image_parse_end(&parse, &symbols);
	assert_true(symbols.ranges.len > 50);
	expect_same_symbols(&content.symbols, &symbols);
	assert_int_equal(content.segments.len, elf_file_segments(parse.file, &segments));
	for (size_t i = 0; i < content.segments.len; i++) {
		assert_int_equal(content.segments.items[i].offset, segments[i].offset);
		assert_int_equal(content.segments.items[i].address, segments[i].address);
		assert_int_equal(content.segments.items[i].file_size, segments[i].file_size);
		assert_int_equal(content.segments.items[i].memory_size, segments[i].memory_size);
		assert_int_equal(content.segments.items[i].flags, segments[i].flags);
	}
	symbols_release(&symbols);
	image_parse_release(&parse);
	image_content_release(&content);
}

static void a_file_of_many_functions(void **state)
{
	_cleanup_close_ int fd = open_many();
	struct image_content content;
	struct elf_symbol symbol;
	char name[32];

	(void)state;
	image_content_read(fd, 0, "many", SIZE_MAX, &content);
	assert_int_equal(content.symbols.ranges.len, MANY);
	for (unsigned int i = 0; i < MANY; i += 997) {
		snprintf(name, sizeof(name), "function_%u", i);
		assert_true(symbols_find(&content.symbols, 0x1008 + 16 * i, &symbol));
		assert_string_equal(symbol.name, name);
	}
	image_content_release(&content);
}

/* Real files, each by a reader and in place. */
static void files_of_this_host(void **state)
{
	static const char *const paths[] = { "/bin/bash", "/usr/bin/strace", "/usr/bin/gcc",
					     "/usr/bin/python3" };
	struct image_content by_reader[ARRAY_SIZE(paths)], in_place;
	struct err err;

	(void)state;
	assert_int_equal(wall_begin(&reader_trade, NULL, &err), 0);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		_cleanup_close_ int fd = open(paths[i], O_RDONLY | O_CLOEXEC);

		if (fd >= 0)
			image_content_read(fd, 0, paths[i], SIZE_MAX, &by_reader[i]);
	}
	without(NULL);
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		_cleanup_close_ int fd = open(paths[i], O_RDONLY | O_CLOEXEC);

		if (fd < 0)
			continue;
		image_content_read(fd, 0, paths[i], SIZE_MAX, &in_place);
		assert_null(by_reader[i].failure);
		assert_true(in_place.symbols.ranges.len > 0);
		expect_same_symbols(&by_reader[i].symbols, &in_place.symbols);
		image_content_release(&by_reader[i]);
		image_content_release(&in_place);
	}
}

static void files_that_fail(void **state)
{
	char path[] = "/tmp/hostprof-reader-XXXXXX", id[BUILD_ID_BYTES];
	_cleanup_close_ int fd = mkstemp(path), self = open_self();
	struct image_content content;

	(void)state;
	unlink(path);
	assert_int_equal(write(fd, "\177ELF", 4), 4);
	image_content_read(fd, 0, "short", SIZE_MAX, &content);
	assert_string_equal(content.failure, "cannot read short: not an ELF file");
	image_content_release(&content);
	assert_int_equal(reader_build_id(fd, 0, id), -ENODATA);
	assert_int_equal(reader_build_id(self, 0, id), 0);
	assert_int_equal(strlen(id), 40);
	image_content_read(self, 0, "self", 100, &content);
	assert_null(content.failure);
	assert_non_null(strstr(content.left_out, "the symbols of self take "));
	image_content_release(&content);
}

/* --- and what they say ------------------------------------------------------------------------ */

/* The answers of one that tells the truth but for what DAMAGE does to that of one call. */
static struct {
	enum reader_op op;
	unsigned int part;
	void (*damage)(void *data);
	int64_t result; /* in the place of 0; 0: none */
} lie;

static int64_t lies(struct wall_call *call, int fd, int *ret_fd)
{
	int64_t r = reader_trade.carry_out(call, fd, ret_fd);

	if (call->op != lie.op || (lie.op == READER_IMAGE_TAKE && call->count != lie.part))
		return r;
	if (lie.damage)
		lie.damage(call->data);
	return lie.result ? lie.result : r;
}

static void build_id_is_no_hex(void *data)
{
	strcpy(((struct reader_image *)data)->link.build_id, "../../../../etc/passwd");
}

static void build_id_has_no_end(void *data)
{
	memset(((struct reader_image *)data)->link.build_id, 'a', BUILD_ID_BYTES);
}

static void link_has_no_end(void *data)
{
	memset(((struct reader_image *)data)->link.name, 'a', NAME_MAX + 1);
}

static void many_segments(void *data)
{
	((struct reader_symbols *)data)->segments = 1U << 20;
}

static void many_ranges(void *data)
{
	((struct reader_symbols *)data)->ranges = UINT64_MAX / 16 + 1;
}

static void many_names(void *data)
{
	((struct reader_symbols *)data)->name_bytes = 1ULL << 40;
}

static void no_names(void *data)
{
	((struct reader_symbols *)data)->name_bytes = 0;
}

static void fewer_names(void *data)
{
	((struct reader_symbols *)data)->name_bytes = 7;
}

static void a_segment_without_end(void *data)
{
	((struct elf_segment *)data)->memory_size = UINT64_MAX;
	((struct elf_segment *)data)->address = 1;
}

static void a_name_elsewhere(void *data)
{
	((struct symbol_range *)data)[3].name = UINT32_MAX;
}

static void ranges_in_no_order(void *data)
{
	((struct symbol_range *)data)[3].address = 0;
}

static void names_without_end(void *data)
{
	memset(data, 'x', 10000);
}

static void what_it_says_is_not_believed(void **state)
{
	static const struct {
		enum reader_op op;
		unsigned int part;
		void (*damage)(void *data);
		int64_t result;
	} lies_told[] = {
		{ READER_IMAGE_OPEN, 0, build_id_is_no_hex, 0 },
		{ READER_IMAGE_OPEN, 0, build_id_has_no_end, 0 },
		{ READER_IMAGE_OPEN, 0, link_has_no_end, 0 },
		{ READER_IMAGE_OPEN, 0, NULL, 1 },
		{ READER_IMAGE_OPEN, 0, NULL, INT64_MIN },
		{ READER_IMAGE_OPEN, 0, NULL, -ESTALE },
		{ READER_IMAGE_END, 0, many_segments, 0 },
		{ READER_IMAGE_END, 0, many_ranges, 0 },
		{ READER_IMAGE_END, 0, many_names, 0 },
		{ READER_IMAGE_END, 0, no_names, 0 },
		{ READER_IMAGE_END, 0, fewer_names, 0 },
		{ READER_IMAGE_TAKE, READER_SEGMENTS, a_segment_without_end, 0 },
		{ READER_IMAGE_TAKE, READER_RANGES, a_name_elsewhere, 0 },
		{ READER_IMAGE_TAKE, READER_RANGES, ranges_in_no_order, 0 },
		{ READER_IMAGE_TAKE, READER_NAMES, names_without_end, 0 },
		{ READER_IMAGE_TAKE, READER_NAMES, NULL, 1 },
	};
	struct trade trade = reader_trade;
	_cleanup_close_ int fd = open_self();
	struct image_content content;

	(void)state;
	trade.carry_out = lies;
	reader_end();
	reader_set_trade(&trade);
	for (size_t i = 0; i < ARRAY_SIZE(lies_told); i++) {
		lie.op = lies_told[i].op;
		lie.part = lies_told[i].part;
		lie.damage = lies_told[i].damage;
		lie.result = lies_told[i].result;
		image_content_read(fd, 0, "self", SIZE_MAX, &content);
		assert_non_null(content.failure);
		assert_null(memchr(content.failure, '\033', strlen(content.failure)));
		assert_int_equal(content.symbols.ranges.len, 0);
		image_content_release(&content);
	}
	lie.op = UINT32_MAX;
	image_content_read(fd, 0, "self", SIZE_MAX, &content);
	assert_null(content.failure);
	image_content_release(&content);
	reader_end();
	reader_set_trade(&reader_trade);
}

/* A stripped copy of this program, so that it has bounds. */
static int open_stripped(void)
{
	char path[] = "/tmp/hostprof-reader-XXXXXX", command[128];
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	snprintf(command, sizeof(command), "strip -o %s /proc/%d/exe 2>/dev/null", path, getpid());
	if (system(command) != 0)
		fd = -1;
	else
		fd = open(path, O_RDONLY | O_CLOEXEC);
	unlink(path);
	return fd;
}

static void many_bounds(void *data)
{
	((struct reader_symbols *)data)->bounds = BOUNDS_MAX + 1;
}

static void bounds_over_the_end(void *data)
{
	((struct reader_symbols *)data)->bounds_base = UINT64_MAX - UINT32_MAX;
}

static void bounds_of_nothing(void *data)
{
	((struct bound *)data)[3].size = 0;
}

static void bounds_in_no_order(void *data)
{
	((struct bound *)data)[3].start = ((struct bound *)data)[2].start;
}

static void bounds_are_not_believed(void **state)
{
	static const struct {
		enum reader_op op;
		void (*damage)(void *data);
	} lies_told[] = {
		{ READER_IMAGE_END, many_bounds },
		{ READER_IMAGE_END, bounds_over_the_end },
		{ READER_IMAGE_TAKE, bounds_of_nothing },
		{ READER_IMAGE_TAKE, bounds_in_no_order },
	};
	struct trade trade = reader_trade;
	_cleanup_close_ int fd = open_stripped();
	struct image_content content;

	(void)state;
	if (fd < 0)
		skip();
	trade.carry_out = lies;
	reader_end();
	reader_set_trade(&trade);
	lie.part = READER_BOUNDS;
	lie.result = 0;
	for (size_t i = 0; i < ARRAY_SIZE(lies_told); i++) {
		lie.op = lies_told[i].op;
		lie.damage = lies_told[i].damage;
		image_content_read(fd, 0, "stripped", SIZE_MAX, &content);
		assert_non_null(content.failure);
		assert_non_null(strstr(content.failure, "does not make sense"));
		assert_int_equal(content.symbols.bounds.v.len, 0);
		image_content_release(&content);
	}
	lie.op = UINT32_MAX;
	image_content_read(fd, 0, "stripped", SIZE_MAX, &content);
	assert_null(content.failure);
	assert_true(content.symbols.bounds.v.len > 50);
	image_content_release(&content);
	reader_end();
	reader_set_trade(&reader_trade);
}

/* The longest name that there can be, and one byte more. */
static void names_that_are_too_long(void **state)
{
	struct symbol_range ranges[] = { { 16, 1, 0 }, { 32, 1, 2 }, { 48, 1, 4 } };
	char names[ELF_MAX_SYMBOL_NAME + 64] = "a";
	struct symbols symbols = { .names = names, .ranges = { ranges, 2, 2 } };

	(void)state;
	memset(names + 2, 'n', ELF_MAX_SYMBOL_NAME + 4);
	symbols.name_bytes = 2 + ELF_MAX_SYMBOL_NAME + 5;
	assert_true(symbols_are_sound(&symbols));
	names[2 + ELF_MAX_SYMBOL_NAME + 4] = 'n';
	symbols.name_bytes++;
	assert_false(symbols_are_sound(&symbols));
	symbols.name_bytes = 3;
	symbols.ranges.len = 3;
	assert_false(symbols_are_sound(&symbols));
}

static void a_text_of_escapes(void *data)
{
	memset(data, '\033', READER_TEXT_BYTES);
}

static void name_without_end(void *data)
{
	memset(data, 'n', 1U << 17);
}

static void texts_are_cut(void **state)
{
	struct trade trade = reader_trade;
	_cleanup_close_ int fd = open_self();
	struct image_content content;
	char *text;
	bool cpp, late;

	(void)state;
	trade.carry_out = lies;
	reader_end();
	reader_set_trade(&trade);
	lie.op = READER_IMAGE_OPEN;
	lie.damage = a_text_of_escapes;
	lie.result = -EBADMSG;
	image_content_read(fd, 0, "self", SIZE_MAX, &content);
	assert_int_equal(strspn(content.failure + strlen("cannot read self: "), "?"),
			 READER_TEXT_BYTES - 1);
	image_content_release(&content);
	lie.op = READER_DEMANGLE;
	lie.damage = name_without_end;
	lie.result = INT64_MAX;
	text = reader_demangle(MANGLED, 0, &cpp, &late);
	assert_int_equal(strlen(text), 16384);
	free(text);
	reader_end();
	reader_set_trade(&reader_trade);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		/* First: what the C library has asked for once it does not ask for again. */
		cmocka_unit_test(files_of_this_host),
		cmocka_unit_test(names),
		cmocka_unit_test_setup_teardown(names, with_readers, without),
		cmocka_unit_test(a_file_of_code),
		cmocka_unit_test_setup_teardown(a_file_of_code, with_readers, without),
		cmocka_unit_test(a_file_of_many_functions),
		cmocka_unit_test_setup_teardown(a_file_of_many_functions, with_readers, without),
		cmocka_unit_test(files_that_fail),
		cmocka_unit_test_setup_teardown(files_that_fail, with_readers, without),
		cmocka_unit_test(what_it_says_is_not_believed),
		cmocka_unit_test(bounds_are_not_believed),
		cmocka_unit_test(names_that_are_too_long),
		cmocka_unit_test(texts_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
