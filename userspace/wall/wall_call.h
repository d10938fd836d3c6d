/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a caller and its broker share: one call at a time, in memory that both have mapped. A file that
 * was opened goes through a socket beside it, before the answer.
 */
#ifndef HOSTPROF_WALL_WALL_CALL_H
#define HOSTPROF_WALL_WALL_CALL_H

#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

#include "base/file_key.h"
#include "wall/file_id.h"
#include "wall/hops.h"

enum wall_op {
	WALL_READ_MEMORY, /* pieces of process `pid` into `data` */
	WALL_READ_PARTS, /* pieces of `count` processes, of each what its part says; `pid` is the one that is read now */
	WALL_FOLLOW,	/* the same, where `hops` lead */
	WALL_READ_FILE, /* `len` bytes at `offset` of /proc/… `path` */
	WALL_READ_MAPS, /* executable mappings from `offset` on, struct wall_mapping; `count` files are looked at */
	WALL_LOOK, /* the file `key` that is mapped at `offset`, `len` bytes, and is called `path` there */
	WALL_READ_LINK, /* where the link /proc/… `path` leads, without an end */
	/* From here on the answer is a file. */
	WALL_FIND,	   /* `path`, following links */
	WALL_FIND_IN_ROOT, /* `path` as process `pid` sees it; `flags`: O_NOFOLLOW or 0 */
	WALL_COPY,	   /* the file that came with the call, in memory */
	WALL_REOPEN,	   /* the same file, for reading */
	WALL_OPEN_MEMFD,   /* the newest descriptor of `pid` that is the memory file `path` */
};

#define WALL_FIRST_OPENING WALL_FIND

/*
 * How long one waits for the other without sleeping. Calls come in rows: a name is a handful of them, and to wake somebody
 * takes longer than what he does.
 */
#define WALL_SPIN_NS 40000

/* The stack above a copy is the longest piece of memory, 256 KiB; a file is read in several calls. */
#define WALL_DATA_BYTES (512U << 10)
#define WALL_MAX_PIECES 896
#define WALL_MAX_PARTS	64

struct wall_piece {
	uint64_t address, len;
};

/* The pieces of one process, among those of others. */
struct wall_part {
	uint32_t pid;
	uint32_t count; /* of pieces */
	int64_t result; /* bytes until the first piece that is not all there, or a negative errno */
};

struct wall_call {
	/* Futexes. Equal: no call is under way. */
	_Atomic uint32_t asked, answered;
	_Atomic uint32_t asker_sleeps, broker_sleeps; /* who has to be woken */
	_Atomic uint32_t spins;			      /* there is more than one cpu */
	_Atomic uint32_t rests;			      /* no call follows for a while */
	_Atomic uint32_t abandoned;		      /* nobody waits for the answer any more */
	_Atomic uint32_t broker;		      /* its pid; 0: it has not begun */
	uint32_t op;
	uint32_t pid;
	int32_t flags;
	uint32_t count;	     /* of pieces, parts or hops; of looks that are left */
	uint32_t takes_long; /* so that its asker sleeps at once */
	uint64_t offset, len;
	int64_t result;	 /* bytes, 0, or a negative errno */
	uint64_t cpu_ns; /* that the broker has used so far */
	uint32_t kind;	 /* of a file that was found: enum foreign_kind */
	struct file_id id;
	struct file_key key;
	struct wall_piece pieces[WALL_MAX_PIECES];
	struct wall_part parts[WALL_MAX_PARTS];
	struct wall_hop hops[WALL_MAX_HOPS];
	char path[PATH_MAX];
	uint8_t data[WALL_DATA_BYTES];
};

static inline size_t wall_pieces_bytes(const struct wall_piece *pieces, uint32_t count)
{
	size_t bytes = 0;

	for (uint32_t i = 0; i < count; i++)
		bytes += pieces[i].len;
	return bytes;
}

/* An entry of WALL_READ_MAPS; the path follows, with its end, padded to 8 bytes. */
struct wall_mapping {
	uint64_t start, end, file_offset, inode;
	uint32_t major, minor;
	uint32_t writable;
	uint32_t looked_at; /* `file` is the one behind it */
	struct file_id file;
	uint64_t path_bytes;
};

/* A look takes some 5 us: so many in one call, which has a deadline. */
#define WALL_MAX_LOOKS 256

#define WALL_LINK_BYTES	 96
#define WALL_LINK_FORMAT "%" PRIx64 "-%" PRIx64 /* in /proc/PID/map_files */

/*
 * By this link the kernel gives the very file behind a mapping, whatever is at its path now and in which
 * mount namespace; to follow it takes a capability (proc_map_files_get_link() in fs/proc/base.c).
 */
static inline void wall_link(uint32_t pid, uint64_t start, uint64_t end,
			     char ret_link[WALL_LINK_BYTES])
{
	snprintf(ret_link, WALL_LINK_BYTES, "/proc/%u/map_files/" WALL_LINK_FORMAT, pid, start,
		 end);
}

#endif
