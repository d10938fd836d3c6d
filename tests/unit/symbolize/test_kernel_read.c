// SPDX-License-Identifier: Apache-2.0
/* The kernel's symbols as they are read: /proc/kallsyms and /sys/kernel/notes are the test's. */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "base/strbuf.h"
#include "symbolize/kernel.h"

#define FIRST	0xffffffff81000000ULL
#define SYMBOLS 20000 /* more than is read at a time */

static struct strbuf kallsyms, notes;

static int file_of(const struct strbuf *text)
{
	int fd = memfd_create("file", MFD_CLOEXEC);

	assert_int_equal(write(fd, text->buf, text->len), text->len);
	lseek(fd, 0, SEEK_SET);
	return fd;
}

/* In place of the C library's, for the library under test too. */
int open(const char *path, int flags, ...)
{
	mode_t mode;
	va_list ap;

	if (!strcmp(path, "/proc/kallsyms")) {
		errno = ENOENT;
		return kallsyms.len ? file_of(&kallsyms) : -1;
	}
	va_start(ap, flags);
	mode = flags & O_CREAT ? va_arg(ap, mode_t) : 0;
	va_end(ap);
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

/* In place of base/. */
int file_read(const char *path, size_t limit, struct strbuf *out)
{
	if (strcmp(path, "/sys/kernel/notes") != 0 || !notes.len || notes.len > limit)
		return -ENOENT;
	strbuf_add(out, notes.buf, notes.len);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	strbuf_release(&kallsyms);
	strbuf_release(&notes);
	return 0;
}

static void assert_symbol(const struct kernel_symbols *symbols, uint64_t address, const char *name)
{
	const char *its_name = "none", *module = "none";

	kernel_symbols_find(symbols, address, &its_name, &module);
	assert_string_equal(its_name, name);
}

/* Wherever a piece ends, in whatever a line holds. */
static void in_pieces(void **state)
{
	_cleanup_(kernel_symbols_freep) struct kernel_symbols *symbols = NULL;
	struct err err;
	char name[64];

	(void)state;
	for (unsigned int i = 0; i < SYMBOLS; i++)
		strbuf_addf(&kallsyms, "%llx T function_%u\n", FIRST + 16ULL * i, i);
	assert_int_equal(kernel_symbols_new(&symbols, &err), 0);
	for (unsigned int i = 0; i < SYMBOLS; i++) {
		snprintf(name, sizeof(name), "function_%u", i);
		assert_symbol(symbols, FIRST + 16ULL * i, name);
		assert_symbol(symbols, FIRST + 16ULL * i + 15, name);
	}
	assert_symbol(symbols, FIRST - 1, "none");
}

static void an_endless_line(void **state)
{
	struct kernel_symbols *symbols = NULL;
	struct err err;

	(void)state;
	for (unsigned int i = 0; i < 300; i++)
		strbuf_addf(&kallsyms, "%01024d", 0);
	assert_int_equal(kernel_symbols_new(&symbols, &err), -EBADMSG);
	assert_null(symbols);
}

static void hidden_or_not_there(void **state)
{
	struct kernel_symbols *symbols = NULL;
	struct err err = { 0 };

	(void)state;
	assert_int_equal(kernel_symbols_new(&symbols, &err), -ENOENT);
	strbuf_addstr(&kallsyms, "0000000000000000 T _stext\n0000000000000000 t foo\n");
	assert_int_equal(kernel_symbols_new(&symbols, &err), -EPERM);
	assert_non_null(strstr(err.hint, "kptr_restrict"));
	assert_null(symbols);
}

static void put_note(uint32_t type, const char *name, const char *content, uint32_t len)
{
	const uint32_t header[3] = { (uint32_t)strlen(name) + 1, len, type };
	static const char zeros[4];

	strbuf_add(&notes, (const char *)header, sizeof(header));
	strbuf_add(&notes, name, strlen(name) + 1);
	strbuf_add(&notes, zeros, -header[0] & 3);
	strbuf_add(&notes, content, len);
	strbuf_add(&notes, zeros, -len & 3);
}

static const char *build_id(struct kernel_symbols **symbols)
{
	struct err err;

	kernel_symbols_free(*symbols);
	*symbols = NULL;
	assert_int_equal(kernel_symbols_new(symbols, &err), 0);
	return kernel_symbols_build_id(*symbols);
}

/* Others come before it, of any length. */
static void the_build_id(void **state)
{
	_cleanup_(kernel_symbols_freep) struct kernel_symbols *symbols = NULL;

	(void)state;
	strbuf_addstr(&kallsyms, "ffffffff81000000 T _stext\n");
	assert_string_equal(build_id(&symbols), "");
	put_note(3, "Xen", "\x11\x22", 2);
	put_note(6, "Linux", "\x33\x44\x55", 3);
	put_note(1, "GNU", "\x66", 1);
	assert_string_equal(build_id(&symbols), "");
	put_note(3, "GNU", "\x01\xab\xff\x00\x7f", 5);
	put_note(3, "GNU", "\x99", 1);
	assert_string_equal(build_id(&symbols), "01abff007f");
	/* Not a note behind the end: the last one that is whole was of another kind. */
	notes.len = 0;
	put_note(6, "Linux", "\x33\x44\x55", 3);
	put_note(3, "GNU", "\x01", 1);
	notes.len -= 20;
	assert_string_equal(build_id(&symbols), "");
	notes.len = 10;
	assert_string_equal(build_id(&symbols), "");
}

#define TEST(fn) cmocka_unit_test_teardown(fn, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(in_pieces),
		TEST(an_endless_line),
		TEST(hidden_or_not_there),
		TEST(the_build_id),
	};

	return cmocka_run_group_tests_name("kernel_read", tests, NULL, NULL);
}
