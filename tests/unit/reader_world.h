/* SPDX-License-Identifier: Apache-2.0 */
/* Readers made by a wall, and where they are found; a file of many functions. Included once per test. */
#ifndef HOSTPROF_TESTS_READER_WORLD_H
#define HOSTPROF_TESTS_READER_WORLD_H

#include "test.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/file.h"
#include "elf/cfi/cfi_file.h"
#include "elf/image_content.h"
#include "elf/image_parse.h"
#include "elf/reader/reader.h"
#include "elf/reader/reader_rights.h"
#include "made_elf.h"
#include "process_status.h"
#include "wall/trade.h"
#include "wall/wall.h"

#define NEVER_NS (20 * NSEC_PER_SEC)
#define MANGLED	 "_ZN9JavaCalls11call_helperEv"
#define NAME	 "JavaCalls::call_helper"

static inline int with_readers(void **state)
{
	struct err err;

	(void)state;
	cfi_digest_begin();
	return wall_begin(&reader_trade, NULL, &err);
}

static inline int without(void **state)
{
	(void)state;
	reader_end();
	wall_end();
	reader_set_trade(&reader_trade);
	reader_set_memory(0);
	return 0;
}

static inline bool is_reader(pid_t pid)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/comm", pid);
	return file_read(path, 64, &text) == 0 &&
	       strcmp(strbuf_str(&text), "hostprof-reader\n") == 0;
}

static inline pid_t parent_of(pid_t pid)
{
	char value[128];

	read_status(pid, "PPid", value);
	return (pid_t)strtol(value, NULL, 10);
}

/* The one of this process; 0: none. */
static inline pid_t find_reader(void)
{
	DIR *dir = opendir("/proc");
	pid_t found = 0;

	for (struct dirent *d; (d = readdir(dir)) && !found;) {
		pid_t pid = (pid_t)strtol(d->d_name, NULL, 10);

		/* Its nursery's keeper is a child of ours. */
		if (pid && is_reader(pid) && parent_of(parent_of(parent_of(pid))) == getpid())
			found = pid;
	}
	closedir(dir);
	return found;
}

static inline void signal_reader(int number)
{
	pid_t reader = find_reader();

	assert_true(reader > 0);
	kill(reader, number);
}

static inline void expect_no_reader(void)
{
	uint64_t end_ns = clock_now_ns() + NEVER_NS;

	while (find_reader() && clock_now_ns() < end_ns)
		usleep(2000);
	assert_int_equal(find_reader(), 0);
}

static inline void expect_demangled(const char *mangled, const char *expected)
{
	bool cpp, late;
	_cleanup_free_ char *text = reader_demangle(mangled, 0, &cpp, &late);

	assert_false(late);
	if (expected)
		assert_string_equal(text, expected);
	else
		assert_null(text);
	assert_int_equal(cpp, expected != NULL);
}

static inline int open_self(void)
{
	return open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
}

#define MANY 100000U

/* A file of many functions; several pieces are taken of it. */
static inline int open_many(void)
{
	int fd = memfd_create("many", MFD_CLOEXEC);
	struct made_symbols table;
	struct cfi_elf elf;
	char name[32];

	made_begin(&elf);
	made_section(&elf, ".text", SHT_PROGBITS, "", 1);
	made_symbols_begin(&table);
	for (unsigned int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "function_%u", i);
		made_function(&table, name, 0x1000 + 16 * i, 16);
	}
	made_table(&elf, ".symtab", SHT_SYMTAB, &table);
	elf_file_close(made_open(&elf, EM_X86_64));
	assert_int_equal(file_write_all(fd, elf.bytes.buf, elf.bytes.len), 0);
	strbuf_release(&elf.bytes);
	return fd;
}

#endif
