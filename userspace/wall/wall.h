/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The wall between us and what other processes can make wait. All that is read of another process's memory, and
 * every file that somebody else put where it is, goes through here: while the wall stands a broker reads and opens, and
 * who does not let it come back is left alone with it. Without a wall (commands that show one thing, tests) the
 * calls are made in place.
 *
 * One for the whole process. Calls may come from any thread; that of wall_begin() waits 25 ms at most, others 5 s.
 * All return a negative errno: -ETIMEDOUT when there was no answer, -EBUSY when the process is not asked now since
 * there was none before.
 */
#ifndef HOSTPROF_WALL_WALL_H
#define HOSTPROF_WALL_WALL_H

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "wall/foreign_file.h"
#include "wall/nursery.h"
#include "wall/wall_call.h"

/*
 * Early: before other threads, before descriptors that a broker is not to hold, and with the rights that those need whom the
 * wall's nursery makes: brokers, OTHER (NULL: nothing), and helpers if there is HELP.
 */
int wall_begin(const struct trade *other, nursery_help_fn help, struct err *err);
void wall_end(void);

/* Borrowed; NULL: there is no wall. */
struct nursery *wall_nursery(void);
/* Is this the thread of wall_begin()? And has it a real-time priority? */
bool wall_is_loop(bool *ret_urgent);

/*
 * COUNT pieces of a process's memory into DATA, one after the other. Returns the bytes until the first piece that is
 * not all there.
 */
int64_t wall_read_memory(uint32_t pid, const struct wall_piece *pieces, unsigned int count,
			 void *data);

/*
 * The pieces of COUNT processes (up to WALL_MAX_PARTS; WALL_MAX_PIECES together) in one call: PIECES are one process's behind the other's, and so
 * is DATA, as if all were there. Of each its part says the bytes until the first piece that is not all there, or a negative errno, when 0 is returned. One who lets the
 * call wait takes the others' answers with it.
 */
int wall_read_parts(struct wall_part *parts, unsigned int count, const struct wall_piece *pieces,
		    void *data);

/* This was the last call of a row: the broker need not wait awake for another one. */
void wall_rest(void);

/* COUNT hops through a process's memory, into DATA of SIZE bytes: see wall_hops_read(). */
int wall_follow(uint32_t pid, struct wall_hop *hops, unsigned int count, uint8_t *data,
		size_t size);

/* Up to LEN bytes at OFFSET of PATH, a file of /proc/PID. */
int64_t wall_read_file(uint32_t pid, const char *path, uint64_t offset, void *data, size_t len);

/* Where a link of /proc/PID leads; of its bytes at most SIZE - 1, and an end. */
int wall_read_link(uint32_t pid, const char *path, char *ret_target, size_t size);

/*
 * Call FN for executable mappings of /proc/PID/… PATH from *AT on, and leave there where it stopped. Of up to LOOKS
 * mapped files is found out which they are.
 */
typedef void (*wall_mapping_fn)(const struct wall_mapping *mapping, const char *path, void *data);
int wall_read_maps(uint32_t pid, const char *path, unsigned int looks, uint64_t *at,
		   wall_mapping_fn fn, void *data);

/*
 * Which file it is that the kernel calls KEY and PID has mapped at start..end, under PATH; nothing is opened. 0 or a negative
 * errno; -ESTALE: there is one, and it takes more than a look to tell whether it is that.
 */
int wall_look(uint32_t pid, const struct file_key *key, uint64_t start, uint64_t end,
	      const char *path, struct file_id *ret_id);

/*
 * A file that somebody else put where it is (wall/foreign_file.h says which): found, and opened for reading, never
 * blocking. One that a server has is copied. A descriptor, or 0; -EINVAL: there is something, but no file that may be
 * opened.
 *
 * wall_find(), wall_open(): PATH follows links, also the kernel's own, /proc/PID/exe and /proc/PID/map_files/….
 * …_in_root(): PATH as process PID (0: ours) sees it. FLAGS: 0, or O_NOFOLLOW.
 * wall_reopen(): FILE that was found; PID is whose it is.
 * wall_open_memfd(): the newest descriptor of PID that is the memory file NAME; for writing, too.
 */
int wall_find(uint32_t pid, const char *path, struct foreign_file *ret_file);
int wall_find_in_root(uint32_t pid, const char *path, int flags, struct foreign_file *ret_file);
int wall_reopen(uint32_t pid, const struct foreign_file *file);
int wall_open(uint32_t pid, const char *path);
int wall_open_in_root(uint32_t pid, const char *path, int flags);
int wall_open_memfd(uint32_t pid, const char *name);

/*
 * What may never end is done by a process of its own, which is left alone when it does not answer before DEADLINE_NS: the
 * function of wall_begin() gets a socket (SOCK_SEQPACKET) with REQUEST, and FD. *RET_FD, -1 or owned, is what came with its
 * answer. The bytes of the answer, or -ETIMEDOUT, -EBUSY, -ECHILD (it has died), -EOPNOTSUPP: without a wall, or without
 * helpers, the caller does it himself.
 */
struct wall_message {
	const void *request;
	size_t len;
	int fd;
	void *answer;
	size_t size;
};

int64_t wall_help(uint32_t pid, const struct wall_message *message, uint64_t deadline_ns,
		  int *ret_fd);

/* Nothing that waits for another process by wall_until() does so after END_NS; 0: it may again. Any thread. */
void wall_end_at(uint64_t end_ns);
/* DEADLINE_NS, or that end. */
uint64_t wall_until(uint64_t deadline_ns);

struct wall_figures {
	uint64_t late;	    /* calls without an answer in time */
	uint64_t refused;   /* calls that were not made, as the process was late before */
	uint32_t lost;	    /* brokers that have not come back */
	uint32_t first_pid; /* the first process that was late; 0: none */
	char first_comm[16];
	uint64_t cpu_ns; /* of all brokers */
};

void wall_get_figures(struct wall_figures *ret_figures);

#endif
