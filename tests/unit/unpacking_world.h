/* SPDX-License-Identifier: Apache-2.0 */
/* Interpreted frames that take the place of a compiled one, and the thread's array of them. */
#ifndef HOSTPROF_TESTS_UNPACKING_WORLD_H
#define HOSTPROF_TESTS_UNPACKING_WORLD_H

#include "interpreted_world.h"

/* Where things lie, in words of the stack: the array and three frames, the youngest at FP_WORD. */
#define ARRAY_WORD 700
#define FP_WORD	   60
#define FRAMES	   3
/* In a JavaThread, words; in the array and an element, bytes. */
#define THREAD_ARRAY 12
#define ARRAY_FRAMES 12
#define ELEMENTS     40
#define ELEMENT	     48
#define METHOD_AT    24
#define BCI_AT	     8
#define BYTECODES    56

static inline uint64_t method_of(unsigned int index)
{
	return METHOD + 16ULL * index;
}

static inline void put_int(uint64_t at, int32_t value)
{
	memcpy((uint8_t *)world_stack + (at - STACK_AT), &value, sizeof(value));
}

static inline uint64_t element_of(unsigned int index)
{
	return world_word(ARRAY_WORD) + ELEMENTS + (uint64_t)ELEMENT * index;
}

/* Frames of one method after the other, all with the same ConstMethod; the walk stands at the youngest. */
static inline void begin_frames(uint8_t unpacks)
{
	begin_interpreted(0x123450007);
	world.jvm.unpacking = (struct wire_unpacking){ .array = 8 * THREAD_ARRAY,
						       .frames = ARRAY_FRAMES,
						       .elements = ELEMENTS,
						       .element_bytes = ELEMENT,
						       .method = METHOD_AT,
						       .bci = BCI_AT,
						       .bytecodes = BYTECODES };
	world.unpacks = unpacks;
	world.unpacking_live = 1;
	world.r15 = THREAD_AT;
	world_thread[THREAD_ARRAY] = world_word(ARRAY_WORD);
	put_int(world_word(ARRAY_WORD) + ARRAY_FRAMES, FRAMES);
	for (unsigned int i = 0; i < FRAMES; i++) {
		const unsigned int fp = FP_WORD + 20 * i;

		world_stack[(method_of(i) + 8 - STACK_AT) / 8] = CONST_METHOD;
		world_stack[(element_of(i) + METHOD_AT - STACK_AT) / 8] = method_of(i);
		put_int(element_of(i) + BCI_AT, 100 + (int32_t)i);
		world_stack[fp - 3] = 0x4711;
		world_stack[fp - 1] = world_word(fp + 2);
		world_stack[fp] = world_word(fp + 20);
		world_stack[fp + 1] = CODE_OF(310);
	}
	/* Who called them was interpreted, too, and has a last sp. */
	world_stack[FP_WORD + 20 * FRAMES - 3] = METHOD;
	world_stack[FP_WORD + 20 * FRAMES - 2] = world_word(40);
	world_stack[FP_WORD + 20 * FRAMES - 1] = world_word(FP_WORD + 20 * FRAMES + 2);
	world_stack[FP_WORD + 20 * FRAMES + 1] = CODE_OF(310);
}

#endif
