/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * How long a JVM's threads are stopped, by its VM thread: VMThread::inner_execute() and evaluate_operation() (vmThread.cpp) begin a
 * safepoint, run the operation that wanted it, and end it. Until the operation begins the threads are being stopped, behind its end
 * they are being let go on. All of it is told at the end, when nobody waits for us.
 */
#ifndef HOSTPROF_BPF_SAMPLE_SAFEPOINT_H
#define HOSTPROF_BPF_SAMPLE_SAFEPOINT_H

#include "wire.h"

enum safepoint_part { SAFEPOINT_REACHING, SAFEPOINT_OPERATION, SAFEPOINT_LEAVING, SAFEPOINT_PARTS };

/* Of a thread: when each part was over; 0: that was not seen. */
struct safepoint_book {
	wire_u64 begin_ns;
	wire_u64 end_ns[SAFEPOINT_PARTS];
	wire_u64 name_at; /* the operation's name in the JVM's memory: a literal; 0: not known */
};

static inline void safepoint_begin(struct safepoint_book *book, wire_u64 now_ns)
{
	*book = (struct safepoint_book){ .begin_ns = now_ns };
}

/* An operation begins. Some stop nobody. Older JVMs run several at one safepoint, of which the first is why it was. */
static inline void safepoint_reach(struct safepoint_book *book, wire_u64 now_ns, wire_u64 name_at)
{
	if (!book->begin_ns || book->end_ns[SAFEPOINT_REACHING])
		return;
	book->end_ns[SAFEPOINT_REACHING] = now_ns;
	book->name_at = name_at;
}

/* It is over. */
static inline void safepoint_operated(struct safepoint_book *book, wire_u64 now_ns)
{
	if (book->end_ns[SAFEPOINT_REACHING])
		book->end_ns[SAFEPOINT_OPERATION] = now_ns;
}

/* The threads go on. False: that they were stopped was not seen. A JVM stops for its own cleaning, too: that is an operation without a name. */
static inline bool safepoint_end(struct safepoint_book *book, wire_u64 now_ns)
{
	if (!book->begin_ns)
		return false;
	if (!book->end_ns[SAFEPOINT_OPERATION])
		book->end_ns[SAFEPOINT_OPERATION] = now_ns;
	book->end_ns[SAFEPOINT_LEAVING] = now_ns;
	return true;
}

/* Of a safepoint that has ended; 0: there was no such part. */
static inline wire_u64 safepoint_length(const struct safepoint_book *book, wire_u32 part)
{
	wire_u64 since_ns = book->begin_ns, end_ns;

	if (part >= SAFEPOINT_PARTS)
		return 0;
	for (wire_u32 i = 0; i < part; i++)
		since_ns = book->end_ns[i] ? book->end_ns[i] : since_ns;
	end_ns = book->end_ns[part];
	return end_ns > since_ns ? end_ns - since_ns : 0;
}

#endif
