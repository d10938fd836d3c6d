// SPDX-License-Identifier: Apache-2.0
/*
 * Walk a made-up memory: the input is the registers, a JVM's layout, and the bytes of a stack and
 * of code. No input may read outside its pieces, write outside the words, or go on for ever.
 */
#include <string.h>

#include "check_words.h"
#include "unwind/walk.h"
#include "walk_copy.h"

#define STACK_AT 0x7ffff0000000ULL
#define CODE_AT	 0x400000ULL

struct input {
	uint64_t pc, sp, fp, r13;
	struct wire_jvm jvm;
	uint16_t stack_bytes;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct walk_result result;
	struct input input;
	struct walk_piece pieces[2];
	struct walk_copy copy = { pieces, 2 };
	struct unwind_memory memory = walk_memory_of_copy(&copy);
	struct walk_request request;
	size_t stack;

	if (size < sizeof(input))
		return 0;
	memcpy(&input, data, sizeof(input));
	data += sizeof(input);
	size -= sizeof(input);
	stack = input.stack_bytes < size ? input.stack_bytes : size;
	pieces[0] = (struct walk_piece){ STACK_AT, stack, data };
	pieces[1] = (struct walk_piece){ CODE_AT, size - stack, data + stack };
	request = (struct walk_request){
		.pc = input.pc,
		.regs = { [DWARF_RSP] = input.sp, [DWARF_RBP] = input.fp, [DWARF_R13] = input.r13 },
		.exact = true,
		.max_frames = WIRE_MAX_USER_FRAMES,
		.jvm = &input.jvm
	};
	walk_stack(&request, &memory, &result);
	check_words(&result, WIRE_MAX_USER_FRAMES);
	return 0;
}
