// SPDX-License-Identifier: Apache-2.0
/* Rows that a reader makes are those of the file, and nothing it says of them is believed. */
#include "reader_world.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "elf/reader/reader_cfi.h"
#include "wall/futex.h"

static const char *const paths[] = { "/proc/self/exe", "/lib/x86_64-linux-gnu/libc.so.6",
				     "/usr/bin/python3", "/usr/bin/git", "/usr/lib/go/bin/go" };

static void expect_same_rows(const struct cfi_rows *a, const struct cfi_rows *b)
{
	assert_int_equal(a->v.len, b->v.len);
	for (size_t i = 0; i < a->v.len; i++) {
		assert_int_equal(a->v.items[i].offset, b->v.items[i].offset);
		assert_memory_equal(&a->v.items[i].rule, &b->v.items[i].rule,
				    sizeof(struct wire_rule));
	}
}

static void expect_same_pages(struct reader_cfi *cfi, struct cfi_file *file)
{
	struct cfi_rows ours = { 0 }, theirs = { 0 };
	const struct elf_segment *segments;
	size_t count = cfi_file_segments(file, &segments);
	struct err err;
	unsigned int pages = 0;

	for (size_t i = 0; i < count; i++) {
		uint64_t end = segments[i].address + segments[i].memory_size, address, its;

		if (!(segments[i].flags & PF_X))
			continue;
		for (uint64_t at = segments[i].address; at < end; at += 37 * 4096, pages++) {
			assert_int_equal(cfi_file_page(file, at, &theirs, &err), 0);
			assert_int_equal(reader_cfi_page(cfi, at, &ours, &err), 0);
			expect_same_rows(&ours, &theirs);
		}
		assert_true(reader_cfi_address(cfi, segments[i].offset, &address));
		assert_true(cfi_file_address(file, segments[i].offset, &its));
		assert_int_equal(address, its);
	}
	assert_false(reader_cfi_address(cfi, 1ULL << 40, &(uint64_t){ 0 }));
	assert_true(pages > 0);
	vec_release(&ours.v);
	vec_release(&theirs.v);
}

static void files_of_this_host(void **state)
{
	struct reader_cfi *cfis[ARRAY_SIZE(paths)] = { NULL };
	struct cfi_digest digest = { { 0 } }, its_digest = { { 0 } };
	struct err err;

	(void)state;
	/* All at once: each handle is its own. */
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		_cleanup_close_ int fd = open(paths[i], O_RDONLY | O_CLOEXEC);

		if (fd >= 0)
			assert_int_equal(reader_cfi_open(fd, 0, &cfis[i], &err), 0);
	}
	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		int fd = open(paths[i], O_RDONLY | O_CLOEXEC);
		struct cfi_file *file;

		if (fd < 0)
			continue;
		assert_int_equal(cfi_file_open(fd, &file, &err), 0);
		assert_string_equal(reader_cfi_build_id(cfis[i]), cfi_file_build_id(file));
		assert_int_equal(reader_cfi_digest(cfis[i], &digest),
				 cfi_file_digest(file, &its_digest));
		assert_memory_equal(&digest, &its_digest, sizeof(digest));
		expect_same_pages(cfis[i], file);
		assert_in_range(reader_cfi_bytes(cfis[i]), 1, 256U << 20);
		cfi_file_close(file);
		reader_cfi_close(cfis[i]);
	}
}

static void no_file(void **state)
{
	_cleanup_close_ int fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
	struct reader_cfi *cfi;
	struct err err;

	(void)state;
	assert_int_equal(reader_cfi_open(fd, 0, &cfi, &err), -EBADMSG);
	assert_string_equal(err.text, "not an ELF file");
}

/* When the reader has gone its handles are nobody's, also when the next one has the same numbers. */
static void handles_of_a_reader_that_has_gone(void **state)
{
	_cleanup_close_ int fd = open_self(), other = open(paths[1], O_RDONLY | O_CLOEXEC);
	struct reader_cfi *first, *second, *third;
	struct cfi_digest digest;
	struct cfi_rows rows = { 0 };
	struct err err;

	(void)state;
	assert_int_equal(reader_cfi_open(fd, 0, &first, &err), 0);
	assert_int_equal(reader_cfi_open(fd, 0, &second, &err), 0);
	signal_reader(SIGKILL);
	expect_no_reader();
	assert_int_equal(reader_cfi_page(first, 0x1000, &rows, &err), -ESTALE);
	assert_int_equal(reader_cfi_open(other, 0, &third, &err), 0);
	assert_int_equal(reader_cfi_page(first, 0x1000, &rows, &err), -ESTALE);
	assert_int_equal(reader_cfi_page(second, 0x1000, &rows, &err), -ESTALE);
	assert_int_equal(reader_cfi_digest(second, &digest), -ESTALE);
	/* Which are not closed in its place. */
	reader_cfi_close(first);
	reader_cfi_close(second);
	assert_int_equal(reader_cfi_page(third, 0x30000, &rows, &err), 0);
	reader_cfi_close(third);
	vec_release(&rows.v);
}

/* Its own answer to that is no reason to ask the next one for ever. */
static int64_t says_stale(struct wall_call *call, int fd, int *ret_fd)
{
	(void)call;
	(void)fd;
	*ret_fd = -1;
	return -ESTALE;
}

static void lies_of_a_page(struct reader_cfi_page *page, unsigned int number)
{
	switch (number) {
	case 0: page->rows = 0; break;
	case 1: page->rows = WIRE_PAGE_BYTES + 1; break;
	case 2: page->rows++; break;
	case 3: page->row[0].offset = 1; break;
	case 4: page->row[1].offset = 0; break;
	case 5: page->row[1].offset = WIRE_PAGE_BYTES; break;
	case 6: page->row[1].rule.kind = WIRE_RULE_KIND_COUNT; break;
	case 7: page->rows = 2; break;
	default: break;
	}
}

#define PAGE_LIES 8U

static void lies_of_a_file(struct reader_cfi_opened *opened, unsigned int number)
{
	switch (number) {
	case 0: opened->segments = READER_MAX_SEGMENTS + 1; break;
	case 1: opened->segments++; break;
	case 2: memset(opened->build_id, 'a', sizeof(opened->build_id)); break;
	case 3: opened->build_id[0] = '/'; break;
	case 4: opened->segment[0].file_size = UINT64_MAX; break;
	default: break;
	}
}

#define FILE_LIES 5U

static unsigned int lie;

static int64_t lies(struct wall_call *call, int fd, int *ret_fd)
{
	int64_t r = reader_trade.carry_out(call, fd, ret_fd);

	if (call->op == READER_CFI_PAGE)
		lies_of_a_page((void *)call->data, lie);
	if (call->op == READER_CFI_OPEN)
		lies_of_a_file((void *)call->data, lie - PAGE_LIES);
	return r;
}

static void what_it_says_is_not_believed(void **state)
{
	_cleanup_close_ int fd = open_self();
	struct trade trade = reader_trade;
	struct reader_cfi *cfi, *another;
	struct cfi_rows rows = { 0 };
	struct err err;
	uint64_t address;

	(void)state;
	trade.carry_out = lies;
	reader_end();
	reader_set_trade(&trade);
	lie = PAGE_LIES + FILE_LIES;
	assert_int_equal(reader_cfi_open(fd, 0, &cfi, &err), 0);
	/* A page with several rows. */
	for (address = 0x6000; reader_cfi_page(cfi, address, &rows, &err) < 0 || rows.v.len < 3;)
		address += 4096;
	for (lie = 0; lie < PAGE_LIES; lie++)
		assert_int_equal(reader_cfi_page(cfi, address, &rows, &err), -EBADMSG);
	for (; lie < PAGE_LIES + FILE_LIES; lie++)
		assert_int_equal(reader_cfi_open(fd, 0, &another, &err), -EBADMSG);
	trade.carry_out = says_stale;
	assert_int_equal(reader_cfi_page(cfi, address, &rows, &err), -EBADMSG);
	assert_int_equal(reader_cfi_open(fd, 0, &another, &err), -EBADMSG);
	trade.carry_out = reader_trade.carry_out;
	reader_cfi_close(cfi);
	reader_end();
	reader_set_trade(&reader_trade);
	vec_release(&rows.v);
}

/* Whose files are late again and again has less time for each, and then a pause. */
static int64_t waits(struct wall_call *call, int fd, int *ret_fd)
{
	(void)fd;
	*ret_fd = -1;
	for (;;)
		futex_wait(&call->asked, atomic_load(&call->asked), NULL);
	return 0;
}

static bool takes_file(uint32_t op)
{
	return op == READER_CFI_OPEN;
}

static void an_owner_who_is_always_late(void **state)
{
	_cleanup_close_ int fd = open_self();
	struct trade trade = reader_trade;
	struct reader_cfi *cfi;
	struct err err = { 0 };
	unsigned int late = 0;
	int r;

	(void)state;
	trade.carry_out = waits;
	trade.takes_file = takes_file;
	reader_set_trade(&trade);
	assert_int_equal(wall_begin(&trade, NULL, &err), 0);
	while ((r = reader_cfi_open(fd, 7, &cfi, &err)) == -ETIMEDOUT)
		late++;
	assert_int_equal(r, -EBUSY);
	assert_int_equal(late, 9);
	/* Nobody else has to wait for that. */
	assert_int_equal(reader_cfi_open(fd, 8, &cfi, &err), -ETIMEDOUT);
	without(NULL);
}

/* As one that waits for a disk: its parent is in D until a child of vfork() goes on. */
static int64_t waits_for_a_disk(struct wall_call *call, int fd, int *ret_fd)
{
	const struct timespec long_time = { .tv_sec = 1 };
	pid_t child = vfork();

	(void)call;
	(void)fd;
	if (child == 0) {
		syscall(SYS_nanosleep, &long_time, NULL);
		_exit(0);
	}
	*ret_fd = -1;
	return -EIO;
}

/* Who makes children needs some. */
static void keeps_rights(const struct wall_call *call)
{
	(void)call;
}

/*
 * A slow disk is no fault of the file's owner, and the loop does not wait long for all of them together: 0.3 s, and a twentieth or a tenth of the
 * time.
 */
static void disks_that_are_slow(void **state)
{
	_cleanup_close_ int fd = open_self();
	struct trade trade = reader_trade;
	struct reader_figures before, after;
	struct reader_cfi *cfi;
	struct err err = { 0 };
	uint64_t begin_ns, most_ns = 0;
	int asked = 0;

	(void)state;
	trade.carry_out = waits_for_a_disk;
	trade.give_up_rights = keeps_rights;
	trade.takes_file = takes_file;
	reader_set_trade(&trade);
	assert_int_equal(wall_begin(&trade, NULL, &err), 0);
	reader_get_figures(&before);
	begin_ns = clock_now_ns();
	while (clock_now_ns() - begin_ns < NSEC_PER_SEC) {
		uint64_t call_ns = clock_now_ns();

		assert_int_equal(reader_cfi_open(fd, 7, &cfi, &err), -EAGAIN);
		call_ns = clock_now_ns() - call_ns;
		most_ns += call_ns;
		asked += call_ns > NSEC_PER_MSEC;
		usleep(1000);
	}
	reader_get_figures(&after);
	assert_int_equal(after.late, before.late);
	assert_true(asked > 3);
	assert_true(most_ns < NSEC_PER_SEC * 7 / 10);
	without(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(files_of_this_host, with_readers, without),
		cmocka_unit_test(files_of_this_host),
		cmocka_unit_test(no_file),
		cmocka_unit_test_setup_teardown(no_file, with_readers, without),
		cmocka_unit_test_setup_teardown(handles_of_a_reader_that_has_gone, with_readers,
						without),
		cmocka_unit_test(what_it_says_is_not_believed),
		cmocka_unit_test(an_owner_who_is_always_late),
		cmocka_unit_test(disks_that_are_slow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
