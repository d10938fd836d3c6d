/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * How many walks one cpu may hand to userspace: a token bucket. Its refill is as fast as samples
 * come at 997 Hz, so that at any usual frequency no walk is given up, not even while userspace
 * is busy with the host's first hundred programs; an event that fires more often (page faults,
 * a probe) can cost no more than that, beyond a burst. One that takes long counts as several, so
 * that all of them are a tenth of a cpu's time.
 */
#ifndef HOSTPROF_BPF_SAMPLE_BUCKET_H
#define HOSTPROF_BPF_SAMPLE_BUCKET_H

#include "wire.h"

/* Tokens that a full bucket has: half a second at 997 Hz, for a second event beside the clock. */
#define BUCKET_BURST 512
/* Of threads that leave their cpus: half a second of as many as are walked at most (sample/offcpu.h). */
#define BUCKET_BURST_OFFCPU 2048
/* One more token after so long. */
#define BUCKET_INTERVAL_NS 1000000ULL
/* What a token pays for. */
#define BUCKET_WORTH_NS 100000ULL

struct bucket {
	wire_u64 filled_ns; /* up to when tokens were put in; 0: never, it is full */
	wire_u64 tokens;
};

/* Take a token: 1, or 0 when there is none. */
static inline bool bucket_take(struct bucket *bucket, wire_u64 burst, wire_u64 now_ns)
{
	wire_u64 fresh = 0;

	/* The clock that is asked never goes back, but its reader may be interrupted. */
	if (now_ns > bucket->filled_ns)
		fresh = (now_ns - bucket->filled_ns) / BUCKET_INTERVAL_NS;
	bucket->filled_ns += fresh * BUCKET_INTERVAL_NS;
	bucket->tokens += fresh;
	if (bucket->tokens > burst)
		bucket->tokens = burst;
	if (!bucket->tokens)
		return false;
	bucket->tokens--;
	return true;
}

/* What a token was taken for has taken so long: if that is more than a token's worth, the rest is paid for, too, as far as there are tokens. */
static inline void bucket_pay(struct bucket *bucket, wire_u64 elapsed_ns)
{
	wire_u64 more = elapsed_ns / BUCKET_WORTH_NS;

	bucket->tokens -= more < bucket->tokens ? more : bucket->tokens;
}

#endif
