/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reader of tests/data/java: the stacks of one JVM that tests/root/java_steps.py has recorded. First
 * come the JVM's layout, the native code's ranges and rows, and the memory that all stacks see (code
 * blobs, segment maps, metadata); then each stack with its own.
 */
#ifndef HOSTPROF_TESTS_RECORDED_JVM_H
#define HOSTPROF_TESTS_RECORDED_JVM_H

#include <errno.h>

#include "base/hmap.h"
#include "jvm_fields.h"
#include "recorded_stack.h"
#include "walk_copy.h"

#define RECORDED_FRAMES 64
#define RECORDED_STACKS 256
/* A read of so many bytes is the stack in bulk; there the walk need not know all of it. */
#define RECORDED_BULK 1024

struct recorded_frame {
	uint64_t address;
	char kind; /* I interpreted, C O W S in a blob, N native, M a mark */
};

struct recorded_java {
	char name[160];
	char by[32]; /* who else has these frames: "jhsdb+gdb", "calls"; "" nobody */
	struct walk_request request;
	struct recorded_frame frames[RECORDED_FRAMES]; /* as the program knows them, leaf first */
	size_t frame_count;
	struct hmap memory; /* address -> byte */
};

struct recorded_jvm {
	struct wire_jvm jvm;
	struct recorded_stack native; /* ranges and rows only */
	struct hmap memory;
	struct recorded_java *stacks[RECORDED_STACKS]; /* owned */
	size_t stack_count;

	/* of the walk under way */
	const struct recorded_java *now;
	bool word_by_word;
	struct wire_hot_code hot_codes[WIRE_HOT_CODES];
};

/* --- reading ---------------------------------------------------------------------------------- */

static inline bool recorded_jvm_memory(struct hmap *memory, const char *line)
{
	uint8_t bytes[32];
	uint64_t address;
	char hex[80];
	size_t len;

	if (sscanf(line, "memory 0x%" SCNx64 " %79s", &address, hex) != 2)
		return false;
	recorded_hex(hex, bytes, &len);
	for (size_t i = 0; i < len; i++)
		hmap_put(memory, address + i, bytes[i]);
	return true;
}

static inline void recorded_java_line(struct recorded_java *stack, const char *line)
{
	struct recorded_frame *frame = &stack->frames[stack->frame_count];
	unsigned int number;
	uint64_t value;

	if (recorded_jvm_memory(&stack->memory, line))
		return;
	if (sscanf(line, "reg %u 0x%" SCNx64, &number, &value) == 2 && number < 16)
		stack->request.regs[number] = value;
	else if (sscanf(line, "pc 0x%" SCNx64, &value) == 1)
		stack->request.pc = value;
	else if (sscanf(line, "by %31s", stack->by) == 1)
		return;
	else if (sscanf(line, "thread %" SCNx64, &value) == 1)
		stack->request.thread = value;
	else if (stack->frame_count < RECORDED_FRAMES &&
		 sscanf(line, "frame %" SCNx64 " %c", &frame->address, &frame->kind) == 2)
		stack->frame_count++;
}

static inline void recorded_jvm_line(struct recorded_jvm *r, const char *line)
{
	char name[sizeof(r->stacks[0]->name)];

	if (sscanf(line, "stack %159s", name) == 1 && r->stack_count < RECORDED_STACKS) {
		struct recorded_java *stack = xcalloc(1, sizeof(*stack));

		memcpy(stack->name, name, sizeof(name));
		stack->request.exact = true;
		r->stacks[r->stack_count++] = stack;
	} else if (r->stack_count) {
		recorded_java_line(r->stacks[r->stack_count - 1], line);
	} else if (!jvm_fields_read(&r->jvm, line) && !recorded_range(&r->native, line) &&
		   !recorded_row(&r->native, line)) {
		recorded_jvm_memory(&r->memory, line);
	}
}

static inline int recorded_jvm_load(const char *path, struct recorded_jvm *r)
{
	FILE *f = fopen(path, "re");
	char line[512];

	memset(r, 0, sizeof(*r));
	if (!f)
		return -errno;
	while (fgets(line, sizeof(line), f))
		recorded_jvm_line(r, line);
	fclose(f);
	return r->stack_count ? recorded_make_tables(&r->native) : -ENODATA;
}

static inline void recorded_jvm_release(struct recorded_jvm *r)
{
	for (size_t i = 0; i < r->stack_count; i++) {
		hmap_release(&r->stacks[i]->memory);
		free(r->stacks[i]);
	}
	hmap_release(&r->memory);
	recorded_release(&r->native);
	memset(r, 0, sizeof(*r));
}

/* --- walking ---------------------------------------------------------------------------------- */

static inline int recorded_jvm_read(const void *data, uint64_t address, void *dst, size_t len)
{
	const struct recorded_jvm *r = data;
	bool bulk = len >= RECORDED_BULK;

	if (bulk && r->word_by_word)
		return -EFAULT;
	for (size_t i = 0; i < len; i++) {
		uint64_t value = RECORDED_POISON;

		if (!hmap_get(&r->now->memory, address + i, &value) &&
		    !hmap_get(&r->memory, address + i, &value) && !bulk)
			return -EFAULT;
		((uint8_t *)dst)[i] = (uint8_t)value;
	}
	return 0;
}

static inline void recorded_jvm_walk(struct recorded_jvm *r, const struct recorded_java *stack,
				     uint32_t max_frames, struct walk_result *ret_result)
{
	struct unwind_tables tables = r->native.tables;
	struct unwind_memory memory = { .read = recorded_jvm_read, .data = r, .tables = &tables };
	struct walk_request request = stack->request;

	tables.hot_codes = r->hot_codes;
	request.jvm = &r->jvm;
	request.jvm_serial = r->jvm.serial;
	request.serial = r->native.request.serial;
	request.count = r->native.request.count;
	request.listed = true;
	request.max_frames = max_frames;
	r->now = stack;
	walk_stack(&request, &memory, ret_result);
}

#endif
