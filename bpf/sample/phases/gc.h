/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * How long a JVM's collector stopped its threads: an operation of the VM thread in which a collection was told of (SvcGCMarker,
 * share/gc/shared/gcVMOperations.cpp). Why is in the JVM's own counter sun.gc.cause, which says so from the collection's beginning to its end
 * (GCCauseSetter, share/gc/shared/collectedHeap.hpp): stop-the-world collectors have set it when the memory pools are told, and taken it
 * back when the operation ends; those that work beside Java have it from one pause to the next.
 */
#ifndef HOSTPROF_BPF_SAMPLE_PHASES_GC_H
#define HOSTPROF_BPF_SAMPLE_PHASES_GC_H

#include "wire.h"

/* Of a thread; begin_ns 0: there is no operation. */
struct gc_book {
	wire_u64 begin_ns;
	wire_u64 name_at;  /* the operation's name in the JVM's memory: a literal; 0: not known */
	wire_u64 collects; /* 1: a collection was told of */
	char cause[WIRE_GC_NAME_BYTES];
};

static inline void gc_begin(struct gc_book *book, wire_u64 now_ns, wire_u64 name_at)
{
	/* A copy of a whole one would take its room on a stack. */
	__builtin_memset(book, 0, sizeof(*book));
	book->begin_ns = now_ns;
	book->name_at = name_at;
}

/* Is it not known yet why? */
static inline bool gc_wants_cause(const struct gc_book *book)
{
	return !book->cause[0] || (book->cause[0] == 'N' && book->cause[1] == 'o' &&
				   book->cause[2] == ' ' && book->cause[3] == 'G');
}

/* Its length, 0: it was no collection, or its begin was not seen. */
static inline wire_u64 gc_end(struct gc_book *book, wire_u64 now_ns)
{
	wire_u64 length_ns = now_ns > book->begin_ns ? now_ns - book->begin_ns : 1;

	if (!book->begin_ns)
		return 0;
	book->begin_ns = 0;
	return book->collects ? length_ns : 0;
}

#endif
