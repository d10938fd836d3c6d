// SPDX-License-Identifier: Apache-2.0
#include "leaf_state.h"

#include <ctype.h>
#include <string.h>

/* How far above a stack pointer patched return addresses are looked for. */
#define DEOPT_WORDS 256

/* An instruction by its first bytes. */
struct opcode {
	const char *name;
	uint8_t bytes[4];
	uint8_t len;
};

static const struct opcode opcodes[] = {
	{ "push", { 0x55 }, 1 },
	{ "pop", { 0x5d }, 1 },
	{ "ret", { 0xc3 }, 1 },
	{ "leave", { 0xc9 }, 1 },
	{ "sub", { 0x48, 0x83, 0xec }, 3 },
	{ "sub", { 0x48, 0x81, 0xec }, 3 },
	{ "add", { 0x48, 0x83, 0xc4 }, 3 },
	{ "add", { 0x48, 0x81, 0xc4 }, 3 },
	{ "setfp", { 0x48, 0x8b, 0xec }, 3 },
	{ "store", { 0x48, 0x89, 0x6c, 0x24 }, 4 },
	{ "store", { 0x48, 0x89, 0xac, 0x24 }, 4 },
	{ "bang", { 0x89, 0x84, 0x24 }, 3 },
	{ "poll", { 0x49, 0x3b, 0xa7 }, 3 },
	{ "poll", { 0x49, 0x3b, 0x67 }, 3 },
	{ "poll", { 0x41, 0x85, 0x02 }, 3 },
	{ "poll", { 0x85, 0x05 }, 2 },
	{ "pollload", { 0x4d, 0x8b, 0x97 }, 3 },
	{ "pollload", { 0x4d, 0x8b, 0x57 }, 3 },
	{ "polljump", { 0x0f, 0x87 }, 2 },
	{ "jump", { 0xe9 }, 1 },
	{ "jump", { 0xff, 0xe0 }, 2 },
	{ "jump", { 0xff, 0xe1 }, 2 },
	{ "jump", { 0xff, 0xe3 }, 2 },
	{ "jump", { 0x41, 0xff }, 2 },
	{ "barrier", { 0x41, 0x81, 0x7f }, 3 },
	{ "vzeroupper", { 0xc5, 0xf8, 0x77 }, 3 },
	{ "setsp", { 0x48, 0x8b, 0xe3 }, 3 },
	{ "popcx", { 0x59 }, 1 },
	{ "popax", { 0x58 }, 1 },
	{ "pushax", { 0x50 }, 1 },
};

static const char *opcode_name(const uint8_t *code)
{
	for (size_t i = 0; i < sizeof(opcodes) / sizeof(opcodes[0]); i++)
		if (memcmp(code, opcodes[i].bytes, opcodes[i].len) == 0)
			return opcodes[i].name;
	return NULL;
}

static void add(char *state, const char *more)
{
	size_t at = strlen(state);

	for (; *more && at + 1 < LEAF_STATE_BYTES; more++)
		state[at++] = isalnum((unsigned char)*more) ? (char)tolower(*more) : '_';
	state[at] = 0;
}

/* After a call into the interpreter, and before a return out of it, its frame is not there. */
static const char *interpreted_state(const struct wire_jvm *jvm,
				     const struct user_regs_struct *regs)
{
	uint64_t at = regs->rip - jvm->entries_start;

	for (int i = 0; i + 1 < jvm->entry_count; i++)
		if (at >= jvm->entries[i].start && at < jvm->entries[i + 1].start)
			return !jvm->entries[i].frame			  ? "_frameless"
			       : at < (uint64_t)jvm->entries[i].frame + 8 ? "_entry"
									  : "_entered";
	return regs->rbp < regs->rsp ? "_left" : "_body";
}

/* The leaf's kind, and where in its code the pc is. */
static void add_leaf(const struct vmstructs *vs, const struct jvm_layout *layout,
		     const struct user_regs_struct *regs, const char *name, char *state)
{
	struct code_blob blob;

	if (name[0] == 'N') {
		add(state, strcmp(name, "N:libjvm.so") == 0	? "libjvm"
			   : strcmp(name, "N:libsteps.so") == 0 ? "jni"
								: "native");
	} else if (name[0] == 'I') {
		add(state, "interpreter");
		add(state, interpreted_state(&layout->wire, regs));
	} else if (code_blob_find(vs, regs->rip, &blob) == 0) {
		if (!blob.method)
			add(state, blob.name);
		else if (name[0] == 'W')
			add(state, "wrapper");
		else
			add(state, blob.is_osr ? "osr" : blob.level == 4 ? "c2" : "c1");
		if (blob.method && (int64_t)(regs->rip - blob.code_begin) < blob.frame_complete)
			add(state, "_prologue");
	}
}

static uint64_t deopt_handler(const struct vmstructs *vs, const struct jvm_layout *layout,
			      uint64_t blob)
{
	const struct wire_jvm *jvm = &layout->wire;
	uint64_t value = 0;

	if (jvm->deopt_kind == WIRE_DEOPT_NONE ||
	    vm_memory_read(vmstructs_memory(vs), blob + jvm->deopt, &value,
			   jvm->deopt_kind == WIRE_DEOPT_OFFSET ? 4 : 8) < 0)
		return 0;
	return jvm->deopt_kind == WIRE_DEOPT_OFFSET ? blob + value : value;
}

/* Does the stack hold the address of the frame's deoptimisation handler? */
static bool is_deoptimised(const struct vmstructs *vs, const struct jvm_layout *layout,
			   const struct live_walk *walk, uint64_t sp,
			   const struct live_frame *frame)
{
	static uint64_t words[DEOPT_WORDS];
	struct code_blob blob;
	uint64_t handler;

	if (code_blob_find(vs, live_frame_address(frame), &blob) < 0 ||
	    live_walk_read(walk, sp, words, sizeof(words)) < 0)
		return false;
	handler = deopt_handler(vs, layout, blob.address);
	for (size_t i = 0; i < DEOPT_WORDS && handler; i++)
		if (words[i] == handler)
			return true;
	return false;
}

/* What lies below the leaf. */
static void add_callers(const struct vmstructs *vs, const struct jvm_layout *layout,
			struct frame_names *names, const struct live_walk *walk,
			const struct user_regs_struct *regs, const struct live_stack *stack,
			char *state)
{
	for (size_t i = 1; i < stack->count; i++)
		if (stack->frames[i].words[0] & WIRE_FRAME_EXACT) {
			add(state, "_under_signal");
			break;
		}
	for (size_t i = 1; i < stack->count; i++) {
		const char *name = frame_names_find(names, &stack->frames[i]);

		if (name[0] == 'M')
			add(state, "_frozen");
		if (strcmp(name, "C:Steps.deopt") == 0 &&
		    is_deoptimised(vs, layout, walk, regs->rsp, &stack->frames[i])) {
			add(state, "_deopt");
			return;
		}
	}
}

static const char *caller_kind(struct frame_names *names, const struct live_stack *stack)
{
	switch (stack->count > 1 ? frame_names_find(names, &stack->frames[1])[0] : 0) {
	case 'I': return "_from_i";
	case 'C':
	case 'O': return "_from_c";
	default: return "";
	}
}

void leaf_state_name(const struct vmstructs *vs, const struct jvm_layout *layout,
		     struct frame_names *names, const struct live_walk *walk,
		     const struct user_regs_struct *regs, const struct live_stack *stack,
		     enum step_change change, char ret_state[LEAF_STATE_BYTES])
{
	const char *leaf = frame_names_find(names, &stack->frames[0]), *opcode;
	uint8_t code[16] = { 0 };

	ret_state[0] = 0;
	add_leaf(vs, layout, regs, leaf, ret_state);
	live_walk_read(walk, regs->rip, code, sizeof(code));
	opcode = opcode_name(code);
	if (opcode && leaf[0] != 'N') {
		add(ret_state, "_");
		add(ret_state, opcode);
	}
	if (change == STEP_CALL || change == STEP_RETURN)
		add(ret_state, change == STEP_CALL ? "_called" : "_returned");
	if (leaf[0] != 'N')
		add(ret_state, caller_kind(names, stack));
	add_callers(vs, layout, names, walk, regs, stack, ret_state);
}
