// SPDX-License-Identifier: Apache-2.0
/* Which files are one, and what a mapping is a piece of. */
#include "unwind_files_world.h"

/* --- numbers --- */

static void a_copy_has_its_number(void **state)
{
	(void)state;
	fill(2, "a file 1");
	assert_int_equal(number_of(1), 1);
	assert_int_equal(number_of(2), 1);
	assert_int_equal(number_of(1), 1);
	assert_int_equal(f.opens, 2);
	assert_int_equal(count_files(), 1);
	assert_int_equal(count_open(), 1);
	assert_int_equal(number_of(3), 2);
	assert_int_equal(number_of(4), 3);
	assert_int_equal(count_files(), 3);
	assert_int_equal(count_open(), 3);
}

static void what_makes_a_copy(void **state)
{
	(void)state;
	/* Another size, or another byte of the first page; what is behind it is not looked at. */
	for (uint32_t i = 1; i <= FILES; i++)
		fill(i, "the same");
	assert_int_equal(ftruncate(f.made[2].fd, LEN + 1), 0);
	assert_int_equal(pwrite(f.made[3].fd, "x", 1, NEAR), 1);
	assert_int_equal(pwrite(f.made[4].fd, "x", 1, 50), 1);
	assert_int_equal(pwrite(f.made[5].fd, "x", 1, NEAR + 1), 1);
	assert_int_equal(number_of(1), 1);
	assert_int_equal(number_of(5), 1);
	assert_int_equal(number_of(2), 2);
	assert_int_equal(number_of(3), 3);
	assert_int_equal(number_of(4), 4);
	/* Build ids that differ make two of them, too. */
	fill(6, "another!");
	assert_int_equal(number_of(6), 5);
}

/* What rows are made from must be the same, and known of both. */
static void a_copy_that_says_something_else(void **state)
{
	(void)state;
	for (uint32_t i = 1; i <= FILES; i++)
		fill(i, "the same");
	f.made[2].digest = 1;
	f.made[3].digest_error = -E2BIG;
	assert_int_equal(number_of(1), 1);
	assert_int_equal(f.digests, 0);
	assert_int_equal(number_of(2), 2);
	assert_int_equal(number_of(3), 3);
	/* 3 was the last of that content. */
	assert_int_equal(number_of(4), 4);
	assert_int_equal(number_of(5), 4);
}

/* Its digest would be that of what it is now, and its rows are of what it was. */
static void a_copy_of_what_was_written_anew(void **state)
{
	const struct timespec times[] = { { 1, 0 }, { 1, 0 } };

	(void)state;
	for (uint32_t i = 1; i <= FILES; i++)
		fill(i, "the same");
	assert_int_equal(number_of(1), 1);
	assert_int_equal(futimens(f.made[1].fd, times), 0);
	assert_int_equal(number_of(2), 2);
	assert_int_equal(number_of(3), 2);
}

/* The first was closed meanwhile, and is opened for it; when it is gone, nothing can be said. */
static void a_copy_of_what_is_closed(void **state)
{
	(void)state;
	for (uint32_t i = 1; i <= FILES; i++)
		fill(i, "the same");
	assert_int_equal(number_of(1), 1);
	close_all();
	assert_int_equal(number_of(2), 1);
	assert_int_equal(f.digests, 2);
	close_all();
	/* Known by now. */
	f.made[1].is_gone = true;
	assert_int_equal(number_of(3), 1);
	assert_int_equal(f.digests, 3);
	fill(4, "others");
	fill(5, "others");
	assert_int_equal(number_of(4), 2);
	close_all();
	f.made[4].is_gone = true;
	assert_int_equal(number_of(5), 3);
}

/* Somebody else could change it while rows are made. */
static void copies_that_others_may_write(void **state)
{
	(void)state;
	for (uint32_t i = 1; i <= FILES; i++)
		fill(i, "the same");
	assert_int_equal(fchmod(f.made[1].fd, 0720), 0);
	assert_int_equal(fchmod(f.made[3].fd, 0702), 0);
	assert_int_equal(number_of(1), 1);
	assert_int_equal(number_of(2), 2);
	assert_int_equal(number_of(3), 3);
	assert_int_equal(f.digests, 0);
}

static void copies_of_two_users(void **state)
{
	(void)state;
	for (uint32_t i = 1; i <= FILES; i++)
		fill(i, "the same");
	if (fchown(f.made[2].fd, 65534, 65534) < 0)
		skip();
	assert_int_equal(number_of(1), 1);
	assert_int_equal(number_of(2), 2);
	assert_int_equal(fchown(f.made[1].fd, 65534, 65534), 0);
	assert_int_equal(fchown(f.made[3].fd, 65534, 65534), 0);
	assert_int_equal(number_of(3), 2);
}

/* One file under two names, or seen again, is not looked at twice. */
static void one_file_of_two_images(void **state)
{
	(void)state;
	assert_int_equal(dup2(f.made[1].fd, f.made[2].fd), f.made[2].fd);
	assert_int_equal(number_of(1), 1);
	assert_int_equal(number_of(2), 1);
	assert_int_equal(f.digests, 0);
	/* Its content is touched: it is another one. */
	fill(1, "the next");
	assert_int_equal(dup2(f.made[1].fd, f.made[3].fd), f.made[3].fd);
	assert_int_equal(number_of(3), 2);
}

static void without_a_build_id_there_are_no_copies(void **state)
{
	(void)state;
	fill(1, "");
	fill(2, "");
	assert_int_equal(number_of(1), 1);
	assert_int_equal(number_of(2), 2);
	assert_int_equal(number_of(1), 1);
}

static void what_is_no_program_is_known(void **state)
{
	(void)state;
	f.made[1].open_error = -EBADMSG;
	assert_int_equal(number_of(1), 0);
	f.made[1].open_error = 0;
	assert_int_equal(number_of(1), 0); /* for good */
	assert_int_equal(f.opens, 1);
	f.made[2].open_error = -EMFILE;
	assert_int_equal(number_of(2), 0);
	f.made[2].open_error = 0;
	assert_int_equal(number_of(2), 1); /* it could not be opened then */
	f.made[3].is_gone = true;
	assert_int_equal(number_of(3), 0);
	f.made[3].is_gone = false;
	assert_int_equal(number_of(3), 2);
	assert_string_equal(failed(), "");
}

static void one_that_cannot_be_read(void **state)
{
	int fds[2];

	(void)state;
	assert_int_equal(pipe(fds), 0);
	dup2(fds[0], f.made[1].fd); /* has no offsets */
	assert_int_equal(number_of(1), 0);
	assert_int_equal(f.opens, 0);
	close(fds[0]);
	close(fds[1]);
}

/* The image's own descriptor while there is one, else the file by its process. */
static void the_way_to_a_file(void **state)
{
	(void)state;
	f.made[1].is_known = f.made[1].is_gone = true;
	assert_int_equal(number_of(1), 1);
	assert_int_equal(f.open_pid, 0);
	assert_int_equal(piece_at(3, 2, 0).file, 2);
	assert_int_equal(f.open_pid, 3);
	assert_int_equal(f.open_start, 0x7030000);
	assert_int_equal(f.open_end, 0x7031000);
}

/* --- pieces --- */

static void what_has_no_file(void **state)
{
	char path[] = "/file1", relative[] = "file1";
	struct mapping mapping = {
		.start = 0x1000, .end = 0x2000, .key = { 8, 1, 1, 9 }, .path = relative
	};

	(void)state;
	assert_int_equal(unwind_files_piece(f.files, 1, &mapping, NULL).file, 0);
	mapping.key.inode = 0;
	mapping.path = path;
	assert_int_equal(unwind_files_piece(f.files, 1, &mapping, NULL).file, 0);
	assert_int_equal(f.lookups, 0);
}

static void its_own_addresses(void **state)
{
	struct unwind_piece piece = piece_at(1, 1, 0x1000);

	(void)state;
	assert_int_equal(piece.file, 1);
	assert_int_equal(piece.bias, 0x7010000 - (ADDRESS + 0x1000));
	piece = piece_at(2, 1, 0x3000);
	assert_int_equal(piece.bias, 0x7020000 - (ADDRESS + 0x3000));
	assert_int_equal(f.places, 2);
	/* It is known without the file, as is that there is none. */
	piece = piece_at(1, 1, CODE);
	assert_int_equal(piece.file, 0);
	assert_int_equal(piece.bias, 0);
	close_all();
	assert_int_equal(piece_at(2, 1, 0x1000).bias, 0x7020000 - (ADDRESS + 0x1000));
	assert_int_equal(piece_at(1, 1, CODE).file, 0);
	assert_int_equal(f.places, 3);
	assert_int_equal(count_open(), 0);
}

static unsigned int places_of_pieces(uint64_t count)
{
	unsigned int before = f.places;

	for (uint64_t i = 0; i < count; i++) {
		const struct unwind_piece piece = piece_at(1, 1, i * 16);

		assert_int_equal(piece.bias, 0x7010000 - (ADDRESS + i * 16));
		assert_int_equal(piece.file, 1);
	}
	return f.places - before;
}

/* Of a JIT compiler's file there may be thousands. */
static void some_places_are_kept(void **state)
{
	(void)state;
	assert_int_equal(places_of_pieces(64), 64);
	assert_int_equal(places_of_pieces(64), 0);
	assert_int_equal(places_of_pieces(1000), 1000 - 64);
	assert_int_equal(places_of_pieces(1000), 1000 - 64);
}

static void a_place_in_a_file_that_is_gone(void **state)
{
	(void)state;
	piece_at(1, 1, 0);
	close_all();
	f.made[1].is_gone = true;
	assert_int_equal(piece_at(1, 1, 0x1000).file, 0);
	assert_int_equal(piece_at(1, 1, 0).file, 1);
}

static struct unwind_piece vdso_piece(uint64_t len)
{
	char path[] = "[vdso]";
	const struct mapping mapping = { .start = 0x9000, .end = 0x9000 + len, .path = path };

	return unwind_files_piece(f.files, 1, &mapping, NULL);
}

static void the_vdso(void **state)
{
	(void)state;
	f.vdso_len = 0x2000;
	f.has_vdso = true;
	limit(1, SIZE_MAX);
	assert_int_equal(number_of(1), 1);
	assert_int_equal(vdso_piece(0x2000).file, 2);
	assert_int_equal(vdso_piece(0x2000).bias, 0x9000 - ADDRESS);
	assert_int_equal(vdso_piece(0x1000).file, 0); /* a 32-bit process's */
	assert_int_equal(f.opens, 2);
	/* It is no open file that could be closed. */
	assert_int_equal(count_open(), 1);
	f.vdso.bytes = SIZE_MAX / 2;
	assert_true(has_rows(2));
	assert_int_equal(count_open(), 1);
	close_all();
	assert_true(has_rows(2));
	f.vdso.is_torn = true;
	assert_false(has_rows(2));
	assert_string_equal(failed(), "[vdso]: torn (1)\n");
}

static void there_is_no_vdso(void **state)
{
	(void)state;
	f.vdso_len = 0x2000;
	f.has_vdso = true;
	f.vdso.open_error = -EBADMSG;
	assert_int_equal(vdso_piece(0x2000).file, 0);
	assert_int_equal(vdso_piece(0x2000).file, 0);
	assert_int_equal(f.opens, 1);
	limit(1, SIZE_MAX);
	f.has_vdso = false;
	assert_int_equal(vdso_piece(0x2000).file, 0);
	assert_int_equal(f.opens, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_copy_has_its_number),
		TEST(what_makes_a_copy),
		TEST(a_copy_that_says_something_else),
		TEST(a_copy_of_what_was_written_anew),
		TEST(a_copy_of_what_is_closed),
		TEST(copies_that_others_may_write),
		TEST(copies_of_two_users),
		TEST(one_file_of_two_images),
		TEST(without_a_build_id_there_are_no_copies),
		TEST(what_is_no_program_is_known),
		TEST(one_that_cannot_be_read),
		TEST(the_way_to_a_file),
		TEST(what_has_no_file),
		TEST(its_own_addresses),
		TEST(some_places_are_kept),
		TEST(a_place_in_a_file_that_is_gone),
		TEST(the_vdso),
		TEST(there_is_no_vdso),
	};

	return cmocka_run_group_tests_name("unwind_files_calls", tests, NULL, NULL);
}
