/* SPDX-License-Identifier: Apache-2.0 */
/* The walk of the made-up JVM stands in a stub: its bytes, calls that lead to it, and its callers. */
#ifndef HOSTPROF_TESTS_STUB_WORLD_H
#define HOSTPROF_TESTS_STUB_WORLD_H

#include <inttypes.h>

#include "java_world.h"

/* Stubs, two compiled callers with frames of 8 words, native code. */
#define STUBS	       8
#define CALLER_SEGMENT 64
#define OTHER	       80
#define RA	       (CODE_OF(CALLER_SEGMENT) + 64)
#define OLD_RA	       (CODE_OF(OTHER) + 64)
#define RAX_RA	       (CODE_OF(CALLER_SEGMENT) + 128)
#define SP_WORD	       100
#define STUB_PC	       (CODE_OF(STUBS) + 128)
#define SENDER	       (SP_WORD + 6)

static inline void put(uint64_t at, const void *bytes, size_t len)
{
	memcpy(world_heap + (at - HEAP_AT), bytes, len);
}

/* A call at RA - 5 that leads to TARGET. */
static inline void put_call(uint64_t ra, uint64_t target)
{
	int32_t displacement = (int32_t)(target - ra);

	put(ra - 5, "\xe8", 1);
	put(ra - 4, &displacement, sizeof(displacement));
}

/* BEHIND and AT are bytes right before pc and from there on; no word of the stack is code. */
static inline void stub_begin(const char *behind, size_t behind_len, const char *at, size_t at_len)
{
	world_begin(STUB_PC, SP_WORD);
	world_blob(STUBS, 32, 0);
	world_blob(CALLER_SEGMENT, 8, 8);
	world_blob(OTHER, 8, 8);
	for (unsigned int i = 0; i < ARRAY_SIZE(world_stack); i++)
		world_stack[i] = 0x10 + i;
	put(STUB_PC - behind_len, behind, behind_len);
	put(STUB_PC, at, at_len);
	world.leaf = world.exact = 1;
	world.fp = world.leaf_regs[DWARF_RBP] = 0x1234;
}

#define BEGIN(behind, at) stub_begin(behind, sizeof(behind) - 1, at, sizeof(at) - 1)

static inline void expect_caller(uint64_t pc, unsigned int sp, uint64_t fp)
{
	assert_int_equal(world_step(), UNWIND_GO_ON);
	assert_true(world.pc == pc);
	assert_int_equal(world.sp, world_word(sp));
	assert_true(world.fp == fp);
}

#endif
