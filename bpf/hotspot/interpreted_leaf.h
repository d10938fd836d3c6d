/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * The leaf in the template interpreter where no frame of fixed slots stands: in a method's entry
 * before it is built (generate_fixed_frame() in cpu/x86/templateInterpreterGenerator_x86.cpp; the
 * Method* is in %rbx, the caller's stack pointer in %r13, the return address on the stack or in
 * %rax), and where it was removed (hotspot/interpreted_exit.h, hotspot/interpreted_rethrow.h).
 */
#ifndef HOSTPROF_BPF_HOTSPOT_INTERPRETED_LEAF_H
#define HOSTPROF_BPF_HOTSPOT_INTERPRETED_LEAF_H

#include "hotspot/interpreted_rethrow.h"

struct interpreted_search {
	const struct unwind_cursor *c;
	wire_u32 at, found;
};

static long interpreted_search_turn(wire_u32 turn, struct interpreted_search *search)
{
	const struct wire_jvm *jvm = &search->c->jvm;

	if (turn >= WIRE_JVM_ENTRIES - 1 || turn + 1 >= jvm->entry_count)
		return 1;
	if (search->at < jvm->entries[turn].start || search->at >= jvm->entries[turn + 1].start)
		return 0;
	search->found = turn;
	return 1;
}

/* The number of the entry that holds AT, bytes from the first one's start; or WIRE_JVM_ENTRIES. */
static inline wire_u32 interpreted_find_entry(const struct unwind_cursor *c, wire_u32 at)
{
	struct interpreted_search search = { .c = c, .at = at, .found = WIRE_JVM_ENTRIES };

	unwind_loop(WIRE_JVM_ENTRIES - 1, interpreted_search_turn, &search);
	return search.found;
}

#ifdef __bpf__

UNWIND_ALONE(wire_u32, interpreted_find_entry, (struct unwind_cursor * c, wire_u32 at), c, (c, at),
	     WIRE_JVM_ENTRIES)

#define interpreted_find_entry(c, at) interpreted_find_entry_alone(c, at)

#endif

/* The method entry that pc is in, or NULL. */
static inline const struct wire_entry *interpreted_entry(struct unwind_cursor *c, wire_u32 *ret_at)
{
	wire_u64 at = c->pc - c->jvm.entries_start;
	wire_u32 last = c->jvm.entry_count - 1U, found;

	/* Nearly all interpreted frames are in other code. */
	if (last >= WIRE_JVM_ENTRIES || at >= c->jvm.entries[last].start)
		return NULL;
	*ret_at = (wire_u32)at;
	found = interpreted_find_entry(c, (wire_u32)at);
	return found < WIRE_JVM_ENTRIES ? &c->jvm.entries[found] : NULL;
}

/* The caller's stack pointer: %r13, unless that is something else already. */
static inline wire_u64 interpreted_sender_sp(const struct unwind_cursor *c, wire_u64 otherwise)
{
	if (c->r13 == c->sp || compiled_is_sender_sp(c, c->r13, INTERPRETED_MAX_LOCALS))
		return c->r13;
	return otherwise;
}

/* The same where P may be at the call: call rel32. */
static inline wire_u32 interpreted_leaf_alignment(const wire_u8 *p)
{
	return interpreted_alignment(p) | interpreted_alignment(p[0] == 0xe8 ? p + 5 : p);
}

/* Only JDK 8 has it there: later ones keep a mirror of the class below the Method*. */
#define INTERPRETED_BCP_SLOT_8 (-7)

/*
 * JDK 8's Math.sin() and its like save all registers to call native code, and keep words on the stack
 * for the x87 (generate_math_entry()). Is SENDER the caller's stack pointer, with the call's return
 * address below it? An adapter from compiled code puts another one below the arguments that it
 * copies, but leaves the first: of a double it writes the lower word only (gen_c2i_adapter() in
 * cpu/x86/vm/sharedRuntime_x86_64.cpp).
 */
static inline bool interpreted_was_sent(struct unwind_cursor *c, struct unwind_memory *memory,
					wire_u64 sender)
{
	wire_u64 ra;

	if (c->jvm.bcp_slot != INTERPRETED_BCP_SLOT_8 ||
	    !compiled_is_sender_sp(c, sender, INTERPRETED_MAX_LOCALS) ||
	    cursor_load(c, memory, sender - 8, &ra) || !blob_owns(c, ra))
		return false;
	c->interpreted.ra = ra;
	c->interpreted.sender_sp = sender;
	c->interpreted.fp = c->fp;
	return true;
}

/* Nothing of the frame is pushed; the return address may be in %rax, to be pushed anew. */
static inline enum interpreted_state interpreted_before_frame(struct unwind_cursor *c,
							      struct unwind_memory *memory,
							      int frameless)
{
	struct interpreted_frame *frame = &c->interpreted;
	const wire_u8 *p = c->text + UNWIND_TEXT_BEHIND;
	wire_u64 ra_at = c->sp + interpreted_leaf_alignment(p);
	wire_u32 reg;

	if (cursor_load(c, memory, ra_at, &frame->ra))
		return INTERPRETED_LOST;
	if (interpreted_popped(p, &reg))
		frame->ra = interpreted_register(c, reg);
	else if (frameless && interpreted_was_sent(c, memory, c->r13))
		return INTERPRETED_UNBUILT;
	else if (!blob_owns(c, frame->ra))
		frame->ra = c->leaf_regs[DWARF_RAX];
	frame->fp = c->fp;
	frame->sender_sp = interpreted_sender_sp(c, ra_at + 8);
	return INTERPRETED_UNBUILT;
}

/* DONE bytes of the instructions that begin the frame were executed: struct wire_entry's `frame`. */
static inline enum interpreted_state interpreted_in_frame(struct unwind_cursor *c,
							  struct unwind_memory *memory,
							  wire_u32 done)
{
	struct interpreted_frame *frame = &c->interpreted;
	wire_u64 at = done == 1 ? c->sp - 8 : done < 5 ? c->sp : c->fp;

	if (cursor_load(c, memory, at + 8, &frame->ra))
		return INTERPRETED_LOST;
	frame->fp = c->fp;
	if (done > 1 && cursor_load(c, memory, at, &frame->fp))
		return INTERPRETED_LOST;
	/* %r13 becomes the bytecode pointer once it is pushed. */
	if (done >= 5 && c->sp < at)
		return cursor_load(c, memory, at + (wire_u64)(c->jvm.sender_sp_slot * 8LL),
				   &frame->sender_sp)
			       ? INTERPRETED_LOST
			       : INTERPRETED_UNBUILT;
	frame->sender_sp = interpreted_sender_sp(c, at + 16);
	return INTERPRETED_UNBUILT;
}

static inline enum interpreted_state interpreted_at_entry(struct unwind_cursor *c,
							  struct unwind_memory *memory,
							  wire_u32 frame, wire_u32 at)
{
	wire_u64 method_at = c->fp + (wire_u64)(c->jvm.method_slot * 8LL);

	if (frame && at >= frame + 5 && c->sp <= method_at)
		return INTERPRETED_STANDS;
	c->interpreted.method = c->rbx;
	if (!frame || at <= frame)
		return interpreted_before_frame(c, memory, !frame);
	return interpreted_in_frame(c, memory, at - frame);
}

/*
 * A stub was called by an entry that makes no frame (Math.pow(), generate_math_entry()), or native
 * code: the registers are those of the thread, if the stub has not used them. Uses c->code.
 */
static inline enum interpreted_state interpreted_caller(struct unwind_cursor *c,
							struct unwind_memory *memory)
{
	const struct wire_entry *entry;
	wire_u64 r13 = c->native ? c->r13 : c->leaf_regs[DWARF_R13], ra_at;
	wire_u32 at = 0;

	if (c->native && interpreted_rethrows(c, memory))
		return INTERPRETED_GONE;
	entry = interpreted_entry(c, &at);
	/* JDK 8's CRC32.update() makes one only where it is not intrinsic, behind its call. */
	if (!entry || (entry->frame && at > entry->frame))
		return INTERPRETED_STANDS;
	c->interpreted.method = c->native ? c->rbx : c->leaf_regs[DWARF_RBX];
	if (!entry->frame && interpreted_was_sent(c, memory, r13))
		return INTERPRETED_UNBUILT;
	if (memory_read(memory, c->code, 8, c->pc))
		return INTERPRETED_LOST;
	ra_at = c->sp + interpreted_alignment(c->code);
	c->interpreted.fp = c->fp;
	c->interpreted.sender_sp = ra_at + 8;
	if (compiled_is_sender_sp(c, r13, INTERPRETED_MAX_LOCALS))
		c->interpreted.sender_sp = r13;
	return cursor_load(c, memory, ra_at, &c->interpreted.ra) ? INTERPRETED_LOST
								 : INTERPRETED_UNBUILT;
}

static inline enum interpreted_state interpreted_leaf(struct unwind_cursor *c,
						      struct unwind_memory *memory)
{
	const struct wire_entry *entry;
	wire_u32 at = 0;
	enum interpreted_state state;

	if (compiled_read_text(c, memory)) {
		c->missed = 0;
		__builtin_memset(c->text, 0, sizeof(c->text));
	}
	entry = interpreted_entry(c, &at);
	if (entry) {
		state = interpreted_at_entry(c, memory, entry->frame, at);
		if (state != INTERPRETED_STANDS)
			return state;
	}
	if (interpreted_rethrows_here(c, memory))
		return INTERPRETED_GONE;
	return interpreted_removed(c, memory);
}

#endif
