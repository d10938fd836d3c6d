/* SPDX-License-Identifier: Apache-2.0 */
/* The stubs of jvm_fixture.h call functions of libjvm where a virtual thread leaves its carrier and comes back. Included once per test. */
#ifndef HOSTPROF_TESTS_FAKE_YIELD_CALLS_H
#define HOSTPROF_TESTS_FAKE_YIELD_CALLS_H

#include "jvm_fixture.h"

/* Where the arguments of the calls are, in doYield's code and before the barrier. */
#define YIELD_AT   46
#define THAW_AT	   (-50)
#define LIB_BYTES  0x1000000
#define FREEZE	   0x5130
#define PREPARE	   0x6f3f0
#define LIB_OFFSET 0x10000000

static inline void put_code(struct fake_jvm *f, uint64_t at, const void *bytes, size_t len)
{
	fake_put(&f->vm.fake, at, bytes, len);
}

static inline void put_near_call(struct fake_jvm *f, uint64_t at, uint64_t target)
{
	put_code(f, at, "\xe8", 1);
	jvm_put_i32(f, at + 1, (int32_t)(int64_t)(target - (at + 5)));
}

static inline void put_far_call(struct fake_jvm *f, uint64_t at, uint64_t target)
{
	put_code(f, at, "\x49\xba", 2);
	put_code(f, at + 2, &target, sizeof(target));
	put_code(f, at + 10, "\x41\xff\xd2", 3);
}

/* test $15,%spl and je; sub $8,%rsp and the call; add $8,%rsp. */
static inline void put_aligned_call(struct fake_jvm *f, uint64_t at, uint64_t target)
{
	put_code(f, at, "\x40\xf6\xc4\x0f\x0f\x84\x12\0\0\0\x48\x83\xec\x08", 14);
	put_near_call(f, at + 14, target);
	put_code(f, at + 19, "\x48\x83\xc4\x08", 4);
}

/* To functions of the library at LIB; where doYield's code is. */
static inline uint64_t add_yield_calls(struct fake_jvm *f, uint64_t lib)
{
	static const uint8_t yield_arguments[] = { 0x49, 0x8b, 0xff, 0x48, 0x8b, 0xf4 };
	static const uint8_t thaw_arguments[] = { 0x49, 0x8b, 0xff, 0xbe, 0, 0, 0, 0 };
	/* Another frame with such a call. */
	uint64_t yield = jvm_add_blob(f, "native nmethod", 4, 200);

	put_code(f, yield + YIELD_AT, yield_arguments, sizeof(yield_arguments));
	put_near_call(f, yield + YIELD_AT + 6, lib + 8);
	yield = jvm_add_blob(f, "native nmethod", 2, 200);
	put_code(f, yield + YIELD_AT, yield_arguments, sizeof(yield_arguments));
	put_aligned_call(f, yield + YIELD_AT + 6, lib + FREEZE);
	put_code(f, f->barrier + (uint64_t)THAW_AT, thaw_arguments, sizeof(thaw_arguments));
	put_aligned_call(f, f->barrier + (uint64_t)THAW_AT + 8, lib + PREPARE);
	return yield;
}

#endif
