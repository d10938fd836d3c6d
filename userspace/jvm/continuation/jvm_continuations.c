/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The code that is looked for: generate_cont_thaw() in cpu/x86/stubGenerator_x86_64.cpp and
 * gen_continuation_enter() in cpu/x86/sharedRuntime_x86_64.cpp, JDK 21 to 28.
 */
#include "jvm/continuation/jvm_continuations.h"

#include <errno.h>
#include <string.h>

#include "jvm/layout/jvm_blobs.h"

/* The stubs take 2 to 4 kB, enterSpecial less than one. */
#define MAX_CODE_BYTES 16384
/* They are made before all compiled code. */
#define MAX_STUB_BLOBS 4096

#define CALL_BYTES 5

struct search {
	const struct vm_memory *memory;
	uint64_t thaw;	  /* code of the continuation stubs, the thaw stub first */
	uint64_t barrier; /* 0: not found */
	uint64_t enter_return;
	unsigned int left;
	uint8_t code[MAX_CODE_BYTES];
};

uint16_t jvm_continuations_entry(const struct vm_memory *memory, uint64_t barrier)
{
	/* mov disp32(%r15),%rsp */
	static const uint8_t load[] = { 0x49, 0x8b, 0xa7 };
	uint8_t code[sizeof(load) + sizeof(uint32_t)];
	uint32_t offset;

	if (vm_memory_read(memory, barrier, code, sizeof(code)) < 0 ||
	    memcmp(code, load, sizeof(load)) != 0)
		return WIRE_JVM_ABSENT;
	memcpy(&offset, code + sizeof(load), sizeof(offset));
	return offset % 8 || offset >= JVM_LAYOUT_MAX_STRUCT ? WIRE_JVM_ABSENT : (uint16_t)offset;
}

/* Read the code of BLOB; its length, 0 when it cannot be what is looked for. */
static size_t read_code(struct search *s, const struct jvm_blob *blob)
{
	uint64_t len = blob->end - blob->code;

	if (len > MAX_CODE_BYTES || vm_memory_read(s->memory, blob->code, s->code, len) < 0)
		return 0;
	return len;
}

/*
 * The thaw stub ends with pop %rbp and ret; behind it the return barrier begins with its load. The
 * stub behind that one, for exceptions, looks the same: the first one counts.
 */
static bool take_barrier(const struct jvm_blob *blob, void *data)
{
	static const uint8_t wanted[] = { 0x5d, 0xc3, 0x49, 0x8b, 0xa7 };
	static const char name[] = "StubRoutines (continuation";
	struct search *s = data;
	const uint8_t *found;
	size_t len;

	if (!s->left--)
		return false;
	if (strncmp(blob->name, name, sizeof(name) - 1) != 0)
		return true;
	len = read_code(s, blob);
	found = memmem(s->code, len, wanted, sizeof(wanted));
	if (found) {
		s->thaw = blob->code;
		s->barrier = blob->code + (uint64_t)(found + 2 - s->code);
	}
	return false;
}

/*
 * enterSpecial alone calls the thaw stub; the nop that marks calls of continuations' frames
 * follows.
 */
static bool take_enter(const struct jvm_blob *blob, void *data)
{
	static const uint8_t mark[] = { 0x0f, 0x1f, 0x84, 0x00 };
	struct search *s = data;
	size_t len;

	if (strcmp(blob->name, "native nmethod") != 0 || blob->frame_size <= 0)
		return true;
	len = read_code(s, blob);
	for (size_t i = 0; i + CALL_BYTES + sizeof(mark) <= len; i++) {
		uint64_t next = blob->code + i + CALL_BYTES;
		int32_t relative;

		memcpy(&relative, s->code + i + 1, sizeof(relative));
		if (s->code[i] != 0xe8 || memcmp(s->code + i + CALL_BYTES, mark, sizeof(mark)) != 0)
			continue;
		if (next + (uint64_t)relative < s->thaw || next + (uint64_t)relative >= s->barrier)
			continue;
		s->enter_return = next;
		return false;
	}
	return true;
}

void jvm_continuations_find(const struct vmstructs *vs, struct jvm_layout *layout)
{
	struct wire_jvm *wire = &layout->wire;
	struct search s = { .memory = vmstructs_memory(vs), .left = MAX_STUB_BLOBS };

	jvm_blobs_walk(vs, layout, wire->call_stub_return, take_barrier, &s);
	if (!s.barrier)
		return;
	if (!wire->return_barrier)
		wire->return_barrier = s.barrier;
	if (!wire->enter_return)
		jvm_blobs_walk(vs, layout, 0, take_enter, &s);
	if (!wire->enter_return)
		wire->enter_return = s.enter_return;
}
