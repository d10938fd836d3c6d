/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Readers: processes without any right, in which the bytes of other people's files are parsed. Each thread has its own, and
 * no reader sees files of two owners (elf/reader/reader_owner.h): what one was taken over by cannot lie about others' files. A file that a reader dies of, or does not get done with in time, is its own loss: another reader goes on. Without a wall (commands that
 * show one thing, tests) the calls are carried out in place.
 *
 * What comes back is the word of somebody who may have been taken over: each caller here checks it before it is used.
 */
#ifndef HOSTPROF_ELF_READER_READER_H
#define HOSTPROF_ELF_READER_READER_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "elf/reader/reader_call.h"
#include "elf/reader/reader_owner.h"

struct trade;

/* Those that the wall's nursery is to make: for wall_begin(). */
extern const struct trade reader_trade;

/* Who carries calls out from now on, in place or made by the wall's nursery; for tests of what a reader may say. */
void reader_set_trade(const struct trade *trade);

/* Readers from now on have so many bytes of memory, besides the program; 0: any. */
void reader_set_memory(uint64_t bytes);
/* This thread's goes, those of others with them; figures begin anew. Before wall_end(). */
void reader_end(void);

struct reader_ask {
	enum reader_op op;
	int fd; /* borrowed; -1: it is about none */
	uint64_t
		owner; /* of the file, reader_owner(): each has his own reader, and less time when he was late */
	uint64_t
		generation; /* of the reader that has what it is about (reader_generation()); 0: any */
	bool patient;	    /* it may take as long as the symbols of a file */
	uint32_t count;
	uint64_t offset, len;
	const void *data; /* DATA_LEN bytes, put into the call */
	size_t data_len;
	void *answer; /* what it has brought, when it has succeeded; up to ANSWER_LEN bytes */
	size_t answer_len;
};

/*
 * The call's result: how many bytes it says that it has brought, or an errno and a sentence in ERR. -ETIMEDOUT, -ECHILD: there is no answer, and the next call
 * goes to a reader that knows nothing of this one.
 */
int64_t reader_call(const struct reader_ask *ask, struct err *err);

/* Another one with each reader of OWNER's files in this thread, which knows nothing of what the one before had open. 0: there is none. */
uint64_t reader_generation(uint64_t owner);

/* What a call may be tried again after: its reader has gone, and what it knew with it. */
static inline bool reader_has_gone(int64_t result)
{
	return result == -ETIMEDOUT || result == -ECHILD || result == -ESTALE;
}

/* The file PATH is not asked for again, since readers came to their end with it. */
void reader_note_refused(const char *path);

/* The build id of the file FD of OWNER in hex, or -ENODATA. */
int reader_build_id(int fd, uint64_t owner, char ret_hex[BUILD_ID_BYTES]);

/* May reader_demangle() have another name for it? Most names are C's, and cost no call. */
bool reader_may_demangle(const char *name);

/* As demangle(); NULL also when there was no answer, and then *RET_LATE. */
char *reader_demangle(const char *name, uint64_t owner, bool *ret_cpp, bool *ret_late);

struct reader_figures {
	uint64_t late;	  /* calls that were not done in time */
	uint64_t deaths;  /* readers that died in a call */
	uint64_t refused; /* files that were given up for either */
	uint64_t cpu_ns;  /* of all readers */
	char first[256];  /* the first of those files; "": none */
};

void reader_get_figures(struct reader_figures *ret_figures);

/* What all readers have in memory of their own: the program and its libraries are in memory once. */
uint64_t reader_resident_bytes(void);

#endif
