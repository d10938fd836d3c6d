/* SPDX-License-Identifier: Apache-2.0 */
/* What single questions about a file of somebody else's need of it, asked of this thread's reader. */
#ifndef HOSTPROF_ELF_READER_READER_FILE_H
#define HOSTPROF_ELF_READER_READER_FILE_H

#include <limits.h>

#include "base/vec.h"
#include "elf/reader/reader.h"

struct reader_file {
	struct debug_link link;
	VEC(struct elf_segment) segments;
};

/* As reader_call(), of the owner of the file, and once more when the reader has gone. */
int64_t reader_ask_twice(struct reader_ask *ask, struct err *err);

/* Of the ELF file FD (borrowed; nothing is kept of it). -EBADMSG: it is none. */
int reader_file_read(int fd, struct reader_file *ret_file, struct err *err);
void reader_file_release(struct reader_file *file);

/* COUNT addresses, READER_NOT_THERE where the file FD has no such name; up to READER_MAX_NAMES. */
int reader_find(int fd, enum reader_find how, const char *const *names, unsigned int count,
		uint64_t *ret_addresses, struct err *err);

/* Functions of these very names, up to READER_MAX_NAMES. */
int reader_functions(int fd, const char *const *names, unsigned int count,
		     struct reader_function *ret_functions, struct err *err);

/* DT_SONAME of the file FD, -ENODATA: it has none. */
int reader_soname(int fd, char ret_name[NAME_MAX + 1], struct err *err);

/*
 * Functions NAME of the file FD, in .dynsym, .symtab or .gnu_debugdata, as elf_file_for_each_named() finds them; up to LIMIT_BYTES of
 * sections are read for that. PATIENT: it may take as long as the symbols of a file may.
 */
int reader_places(int fd, const char *name, uint64_t limit_bytes, bool patient,
		  struct reader_places *ret_places, struct err *err);

/*
 * The name of up to LEN bytes at OFFSET in the file FD of OWNER, demangled where it is mangled; caller frees. NULL: it cannot be
 * read, or (*RET_LATE) not in time.
 */
char *reader_far_name(int fd, uint64_t owner, uint64_t offset, uint64_t len, bool *ret_cpp,
		      bool *ret_late);

/* What the Go tables at PLACE in the file FD of OWNER say of ADDRESS; -ENODATA: nothing. */
int reader_go_frames(int fd, uint64_t owner, const struct go_place *place, uint64_t address,
		     struct go_frames *ret_frames);

#endif
