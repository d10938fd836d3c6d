// SPDX-License-Identifier: Apache-2.0
/* Single questions about a file: what a reader says is what is in it, or is not believed. */
#include "reader_world.h"

#include "elf/reader/reader_file.h"

static const char *const names[] = { "main", "no such function", "what_a_file_says" };

static uint64_t address_of(const char *name)
{
	_cleanup_(elf_file_closep) struct elf_file *file = NULL;
	static int fd = -1;
	struct err err;
	uint64_t address = 0;

	fd = fd < 0 ? open_self() : fd;
	assert_int_equal(elf_file_open(fd, &file, &err), 0);
	assert_int_equal(elf_file_find_symbol(file, name, &address), 0);
	return address;
}

static void what_a_file_says(void **state)
{
	_cleanup_close_ int fd = open_self();
	uint64_t addresses[ARRAY_SIZE(names)];
	static const char *const beginnings[] = { "what_a_fi", "what_a_fo" };
	const struct elf_segment *segments;
	struct reader_file file;
	struct elf_file *elf;
	struct err err;

	(void)state;
	assert_int_equal(reader_file_read(fd, &file, &err), 0);
	assert_int_equal(elf_file_open(fd, &elf, &err), 0);
	assert_int_equal(strlen(file.link.build_id), 40);
	assert_int_equal(file.segments.len, elf_file_segments(elf, &segments));
	for (size_t i = 0; i < file.segments.len; i++)
		assert_int_equal(file.segments.items[i].address, segments[i].address);
	elf_file_close(elf);
	reader_file_release(&file);
	assert_int_equal(reader_find(fd, READER_FIND_SYMBOL, names, 3, addresses, &err), 0);
	assert_int_equal(addresses[0], address_of("main"));
	assert_true(addresses[1] == READER_NOT_THERE);
	assert_int_equal(addresses[2], address_of("what_a_file_says"));
	assert_int_equal(reader_find(fd, READER_FIND_FUNCTION, beginnings, 2, addresses, &err), 0);
	assert_int_equal(addresses[0], address_of("what_a_file_says"));
	assert_true(addresses[1] == READER_NOT_THERE);
}

static void no_file(void **state)
{
	_cleanup_close_ int fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
	struct reader_file file;
	uint64_t address;
	struct err err;

	(void)state;
	assert_int_equal(reader_file_read(fd, &file, &err), -EBADMSG);
	assert_string_equal(err.text, "not an ELF file");
	assert_int_equal(reader_find(fd, READER_FIND_SYMBOL, names, 1, &address, &err), -EBADMSG);
	assert_true(reader_file_read(-1, &file, &err) < 0);
}

/* Somebody may have ended the one that was asked first. */
static void the_next_reader_is_asked(void **state)
{
	_cleanup_close_ int fd = open_self();
	uint64_t address;
	struct reader_file file;
	struct err err;

	(void)state;
	assert_int_equal(reader_file_read(fd, &file, &err), 0);
	reader_file_release(&file);
	signal_reader(SIGSTOP);
	assert_int_equal(reader_find(fd, READER_FIND_SYMBOL, names, 1, &address, &err), 0);
	assert_int_equal(address, address_of("main"));
}

/* --- probes ------------------------------------------------------------------------------------ */

static int open_libc(void)
{
	return open("/lib/x86_64-linux-gnu/libc.so.6", O_RDONLY | O_CLOEXEC);
}

static void what_a_probe_needs(void **state)
{
	_cleanup_close_ int fd = open_self(), libc = open_libc();
	_cleanup_free_ struct reader_places *places = xmalloc(sizeof(*places));
	char soname[NAME_MAX + 1];
	struct err err;

	(void)state;
	assert_int_equal(reader_soname(libc, soname, &err), 0);
	assert_string_equal(soname, "libc.so.6");
	assert_int_equal(reader_soname(fd, soname, &err), -ENODATA);
	for (int patient = 0; patient < 2; patient++) {
		assert_int_equal(reader_places(fd, "main", 1U << 30, patient, places, &err), 0);
		assert_int_equal(places->count, 1);
		assert_int_equal(places->address[0], address_of("main"));
		assert_false(places->is_ifunc);
	}
	assert_int_equal(reader_places(fd, "no such function", 1U << 30, true, places, &err), 0);
	assert_int_equal(places->count, 0);
	assert_int_equal(reader_places(libc, "memcpy", 1U << 30, true, places, &err), 0);
	assert_true(places->is_ifunc);
	/* What is not to be read is not. */
	assert_int_equal(reader_places(fd, "main", 16, true, places, &err), 0);
	assert_int_equal(places->count, 0);
}

/* With their sizes, and whose they are; a name that begins so is another one. */
static void functions_by_their_names(void **state)
{
	static const char *const wanted[] = { "main", "mai", "open_libc", "malloc" };
	_cleanup_close_ int fd = open_self(), libc = open_libc();
	struct reader_function functions[ARRAY_SIZE(wanted)];
	struct err err;

	(void)state;
	assert_int_equal(reader_functions(fd, wanted, 4, functions, &err), 0);
	assert_int_equal(functions[0].address, address_of("main"));
	assert_true(functions[0].size > 0 && functions[0].rank >= ELF_RANK_SHARED);
	assert_true(functions[1].address == READER_NOT_THERE);
	assert_true(functions[2].rank < ELF_RANK_SHARED);
	/* It is called here, and defined there. */
	assert_true(functions[3].address == READER_NOT_THERE);
	assert_int_equal(reader_functions(libc, wanted, 4, functions, &err), 0);
	assert_true(functions[3].address != READER_NOT_THERE);
	assert_true(functions[3].rank >= ELF_RANK_SHARED && functions[3].size > 16);
}

static unsigned int lie;

static void lies_of_a_file(struct reader_file_said *said)
{
	switch (lie) {
	case 0: said->segments = READER_MAX_SEGMENTS + 1; break;
	case 1: said->segments++; break;
	case 2: said->link.build_id[0] = '/'; break;
	case 3: memset(said->link.name, 'a', sizeof(said->link.name)); break;
	case 4: said->segment[1].file_size = UINT64_MAX; break;
	default: break;
	}
}

#define LIES 5U

static int64_t lies(struct wall_call *call, int fd, int *ret_fd)
{
	int64_t r = reader_trade.carry_out(call, fd, ret_fd);

	if (call->op == READER_FILE)
		lies_of_a_file((void *)call->data);
	return call->op == READER_FIND ? r - 1 : r;
}

static int64_t lies_of_probes(struct wall_call *call, int fd, int *ret_fd)
{
	int64_t r = reader_trade.carry_out(call, fd, ret_fd);
	struct reader_places *places = (void *)call->data;

	switch (lie) {
	case 0:
		places->count = READER_MAX_PLACES + 1;
		return (int64_t)(offsetof(struct reader_places, address) +
				 places->count * sizeof(places->address[0]));
	case 1: places->count++; break;
	case 2: return 4;
	case 3: places->count = 0; break;
	default: break;
	}
	return call->op == READER_SONAME ? r - 1 : r;
}

#define PROBE_LIES 4U

static void what_it_says_is_not_believed(void **state)
{
	_cleanup_close_ int fd = open("/bin/true", O_RDONLY | O_CLOEXEC);
	struct trade trade = reader_trade;
	struct reader_file file;
	uint64_t address;
	struct err err;

	(void)state;
	trade.carry_out = lies;
	reader_end();
	reader_set_trade(&trade);
	for (lie = 0; lie < LIES; lie++) {
		assert_int_equal(reader_file_read(fd, &file, &err), -EBADMSG);
		assert_string_equal(err.text, "its reader does not make sense");
	}
	assert_int_equal(reader_file_read(fd, &file, &err), 0);
	reader_file_release(&file);
	assert_int_equal(reader_find(fd, READER_FIND_SYMBOL, names, 1, &address, &err), -EBADMSG);
	reader_end();
	reader_set_trade(&reader_trade);
}

static void nor_what_it_says_of_probes(void **state)
{
	_cleanup_close_ int libc = open_libc();
	_cleanup_free_ struct reader_places *places = xmalloc(sizeof(*places));
	struct trade trade = reader_trade;
	char soname[NAME_MAX + 1];
	struct err err;

	(void)state;
	trade.carry_out = lies_of_probes;
	reader_end();
	reader_set_trade(&trade);
	for (lie = 0; lie < PROBE_LIES; lie++)
		assert_int_equal(reader_places(libc, "lsearch", 1U << 30, true, places, &err),
				 -EBADMSG);
	assert_int_equal(reader_places(libc, "lsearch", 1U << 30, true, places, &err), 0);
	/* Without its end. */
	assert_int_equal(reader_soname(libc, soname, &err), -EBADMSG);
	reader_end();
	reader_set_trade(&reader_trade);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_file_says),
		cmocka_unit_test_setup_teardown(what_a_file_says, with_readers, without),
		cmocka_unit_test(no_file),
		cmocka_unit_test_setup_teardown(no_file, with_readers, without),
		cmocka_unit_test_setup_teardown(the_next_reader_is_asked, with_readers, without),
		cmocka_unit_test(what_it_says_is_not_believed),
		cmocka_unit_test(functions_by_their_names),
		cmocka_unit_test(what_a_probe_needs),
		cmocka_unit_test_setup_teardown(what_a_probe_needs, with_readers, without),
		cmocka_unit_test(nor_what_it_says_of_probes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
