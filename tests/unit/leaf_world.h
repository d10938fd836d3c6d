/* SPDX-License-Identifier: Apache-2.0 */
/* A leaf in compiled Java code of the made-up JVM: where its caller is by the bytes around pc. */
#ifndef HOSTPROF_TESTS_LEAF_WORLD_H
#define HOSTPROF_TESTS_LEAF_WORLD_H

#include <inttypes.h>

#include "java_world.h"

#define SEGMENT_OF_CODE 8
/* Every word of the stack is another address of Java code. */
#define RA_OF(word) (HEAP_AT + 0x20000 + 16ULL * (word))
#define SP_WORD	    100
/* Offset of pc in the code; the prologue ends at 16. */
#define IN_BODY	    80
#define IN_PROLOGUE 0

static inline size_t put_hex(uint64_t at, const char *hex)
{
	size_t count = 0;

	for (; *hex; hex += hex[2] == ' ' ? 3 : 2, count++) {
		unsigned int byte;

		if (sscanf(hex, "%2x", &byte) != 1)
			fail_msg("bad hex: %s", hex);
		world_heap[at - HEAP_AT + count] = (uint8_t)byte;
		if (!hex[2])
			return count + 1;
	}
	return count;
}

static inline size_t hex_bytes(const char *hex)
{
	return (strlen(hex) + 1) / 3;
}

/* A leaf in a frame of WORDS, with BEHIND right before its pc and AT from there on. */
static inline void leaf_begin(uint64_t code_offset, const char *behind, const char *at,
			      int32_t words)
{
	uint64_t pc = CODE_OF(SEGMENT_OF_CODE) + code_offset + hex_bytes(behind);

	world_begin(pc, SP_WORD);
	world_blob(SEGMENT_OF_CODE, 16, words);
	for (unsigned int i = 0; i < ARRAY_SIZE(world_stack); i++)
		world_stack[i] = RA_OF(i);
	put_hex(pc - hex_bytes(behind), behind);
	put_hex(pc, at);
	world.leaf = world.exact = 1;
	world.fp = world.leaf_regs[DWARF_RBP] = 0x1234;
	world.leaf_regs[DWARF_RDX] = RA_OF(901);
	world.leaf_regs[DWARF_RCX] = RA_OF(902);
	world.leaf_regs[DWARF_R8] = RA_OF(908);
}

static inline void expect_caller(const char *name, uint64_t pc, uint64_t sp, uint64_t fp)
{
	if (world_step() != UNWIND_GO_ON)
		fail_msg("%s: the walk ended, reason %d", name, world.reason);
	if (world.pc != pc || world.sp != sp || world.fp != fp)
		fail_msg("%s: pc %#" PRIx64 " sp %#" PRIx64 " fp %#" PRIx64 ", not %#" PRIx64
			 " %#" PRIx64 " %#" PRIx64,
			 name, (uint64_t)world.pc, (uint64_t)world.sp, (uint64_t)world.fp, pc, sp,
			 fp);
	assert_int_equal(world.leaf, 0);
	assert_int_equal(world_out[0] >> WIRE_FRAME_KIND_SHIFT, WIRE_FRAME_COMPILED);
	assert_int_equal((uint32_t)world_out[1], SEGMENT_OF_CODE);
}

#endif
