/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading a JVM's memory from outside. Behind a callback, so that tests and fuzzers seat
 * fabricated memory instead of a process. All bytes read this way are hostile input.
 */
#ifndef HOSTPROF_JVM_LAYOUT_VM_MEMORY_H
#define HOSTPROF_JVM_LAYOUT_VM_MEMORY_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/macros.h"
#include "wall/hops.h"
#include "wall/wall_call.h"

/* One piece of a gathered read. */
struct vm_span {
	uint64_t address;
	void *data;
	size_t len;
};

/* How many spans one call may have: all that is read of 64 methods together. Linux has 1,024 (UIO_MAXIOV). */
#define VM_MEMORY_MAX_SPANS 896

struct vm_memory {
	/* Read all spans, in this order, or fail: -EFAULT, -ESRCH, -EPERM; and those of vm_error_passes(). */
	int (*read)(const struct vm_memory *memory, const struct vm_span *spans,
		    unsigned int count);
	/* All at once, as wall_follow(); NULL: a read for each step. */
	int (*follow)(const struct vm_memory *memory, struct wall_hop *hops, unsigned int count,
		      uint8_t *data, size_t size);
	void *data;   /* the reader's own; borrowed */
	uint32_t pid; /* of a process; 0 in tests */
};

/*
 * Another try may have what this one had not: whoever reads for us was late, has died, or may not be asked just now (wall/wall.h). What is kept
 * of an answer must not be made of that.
 */
static inline bool vm_error_passes(int error)
{
	return error == -EBUSY || error == -ETIMEDOUT || error == -ECHILD;
}

/* The memory of a live process. */
void vm_memory_init_process(struct vm_memory *memory, uint32_t pid);

/* Read COUNT hops into DATA of SIZE bytes: see wall_hops_read(). */
int vm_memory_follow(const struct vm_memory *memory, struct wall_hop *hops, unsigned int count,
		     uint8_t *data, size_t size);

/* A gathered read in the making. */
struct vm_gather {
	struct vm_span spans[VM_MEMORY_MAX_SPANS];
	unsigned int count;
};

/* All of its spans need not be made zero. */
static inline void vm_gather_init(struct vm_gather *g)
{
	g->count = 0;
}

static inline void vm_gather_add(struct vm_gather *g, uint64_t address, void *data, size_t len)
{
	g->spans[g->count++] = (struct vm_span){ address, data, len };
}

/* All of VARIABLE. */
#define VM_GATHER(g, address, variable) vm_gather_add(g, address, &(variable), sizeof(variable))

static inline int vm_gather_read(const struct vm_gather *g, const struct vm_memory *memory)
{
	return g->count ? memory->read(memory, g->spans, g->count) : 0;
}

/* The spans of one memory, read together with those of others. */
struct vm_part {
	const struct vm_memory *memory; /* borrowed */
	const struct vm_span *spans;	/* borrowed; COUNT of them */
	unsigned int count;
	int result; /* 0, or the error of its `read` */
};

/*
 * With one call for processes: VM_MEMORY_MAX_SPANS and VM_MEMORY_MAX_PARTS at most, else as many calls as there are parts. What is not there is missing
 * for its part only; who does not answer takes the answers of the others with him.
 */
#define VM_MEMORY_MAX_PARTS WALL_MAX_PARTS
void vm_memory_read_parts(struct vm_part *parts, unsigned int count);

int vm_memory_read(const struct vm_memory *memory, uint64_t address, void *data, size_t len);
int vm_memory_read_u64(const struct vm_memory *memory, uint64_t address, uint64_t *ret_value);

/* A C string, cut to SIZE - 1 bytes; what is no printable ASCII becomes '?'. */
int vm_memory_read_text(const struct vm_memory *memory, uint64_t address, char *ret_text,
			size_t size);

/*
 * Many small reads that lie close together (tables and their strings): whole pages are fetched, with those beside them,
 * and kept. Short-lived; it never sees what changes after the first look. -E2BIG: in more places than any JVM's tables are.
 */
struct vm_pages;

struct vm_pages *vm_pages_new(const struct vm_memory *memory);
void vm_pages_free(struct vm_pages *pages);
DEFINE_CLEANUP(struct vm_pages *, vm_pages_free);

int vm_pages_read(struct vm_pages *pages, uint64_t address, void *data, size_t len);

/* A C string; one that does not end within SIZE bytes is -E2BIG. */
int vm_pages_read_string(struct vm_pages *pages, uint64_t address, char *ret_text, size_t size);

#endif
