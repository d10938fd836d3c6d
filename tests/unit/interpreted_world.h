/* SPDX-License-Identifier: Apache-2.0 */
/* An interpreted frame in the made-up JVM of java_world.h. */
#ifndef HOSTPROF_TESTS_INTERPRETED_WORLD_H
#define HOSTPROF_TESTS_INTERPRETED_WORLD_H

#include "java_world.h"

#define METHOD	     world_word(500)
#define CONST_METHOD world_word(520)
#define SYMBOL	     world_word(580)

/* Method 500 -> ConstMethod 520 -> pool 540 -> class 560 -> its name 580; the frame's fp is word 60. */
static inline void begin_interpreted(uint64_t name_word)
{
	uint32_t tick = world.tick;

	world_begin_in_frame(4);
	world.tick = tick;
	world.jvm.interpreter_start = CODE_OF(300);
	world.jvm.interpreter_end = CODE_OF(320);
	world.jvm.method_slot = -3;
	world.jvm.bcp_slot = -8;
	world.jvm.sender_sp_slot = -1;
	world.jvm.method_const_method = 8;
	world.jvm.const_method_constants = 8;
	world.jvm.pool_holder = 24;
	world.jvm.klass_name = 16;
	world.jvm.symbol_mask = 0xffffffffffff0000;
	world_stack[501] = CONST_METHOD;
	world_stack[521] = world_word(540);
	world_stack[543] = world_word(560);
	world_stack[562] = SYMBOL;
	world_stack[580] = name_word;
	world.pc = CODE_OF(310);
	world.fp = world_word(60);
	world_stack[57] = METHOD;
	world_stack[59] = world_word(62);
	world_stack[60] = world_word(80);
	world_stack[61] = WORLD_CALLER;
}

#endif
