/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * How long a compiler thread took for a method, and how much of that it was off the cpus, by the scheduler's switches: a thread's own count of
 * nanoseconds is up to a tick behind, and most compilations are shorter. How often it is told is as of parks (park.h).
 */
#ifndef HOSTPROF_BPF_SAMPLE_PHASES_COMPILATION_H
#define HOSTPROF_BPF_SAMPLE_PHASES_COMPILATION_H

#include "wire.h"

/* Of a thread; begin_ns 0: it compiles nothing. */
struct compilation_book {
	wire_u64 begin_ns;
	wire_u64 off_ns;
	wire_u64 out_ns; /* when it left its cpu; 0: it is there */
};

static inline void compilation_begin(struct compilation_book *book, wire_u64 now_ns)
{
	*book = (struct compilation_book){ .begin_ns = now_ns };
}

static inline void compilation_leave(struct compilation_book *book, wire_u64 now_ns)
{
	book->out_ns = now_ns;
}

static inline void compilation_return(struct compilation_book *book, wire_u64 now_ns)
{
	if (book->out_ns && now_ns > book->out_ns)
		book->off_ns += now_ns - book->out_ns;
	book->out_ns = 0;
}

/* Its length, 0: its begin was not seen. *RET_RUN_NS: of that on a cpu. */
static inline wire_u64 compilation_end(struct compilation_book *book, wire_u64 now_ns,
				       wire_u64 *ret_run_ns)
{
	wire_u64 length_ns = now_ns > book->begin_ns ? now_ns - book->begin_ns : 1;

	if (!book->begin_ns)
		return 0;
	*ret_run_ns = length_ns > book->off_ns ? length_ns - book->off_ns : 0;
	book->begin_ns = 0;
	return length_ns;
}

#endif
