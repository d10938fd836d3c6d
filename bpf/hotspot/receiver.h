/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/*
 * Of which class is the object that a vtable or itable stub calls? In all of a stub's code it is in j_rarg0, %rsi, where the
 * method that is called wants it (cpu/x86/vtableStubs_x86_64.cpp, JDK 8 to 28). It is read while the sample is taken:
 * the thread stands between two instructions then, and what its registers refer to is where they say.
 */
#ifndef HOSTPROF_BPF_HOTSPOT_RECEIVER_H
#define HOSTPROF_BPF_HOTSPOT_RECEIVER_H

#include "hotspot/interpreted.h"
#include "hotspot/object.h"

/* "vtable c": the stubs lie in blobs of the name "vtable chunks" (share/code/vtableStubs.cpp). */
#define RECEIVER_BLOB_NAME 0x6320656c62617476ULL

/* Is the leaf's frame one that may be in such a stub, and does somebody want to know? */
static inline bool receiver_may_be(const struct unwind_cursor *c)
{
	return c->jvm.receiver.object.place != WIRE_KLASS_UNKNOWN && c->leaf && c->frozen_at.live &&
	       !c->compiled_seen.frame_size && c->compiled_seen.blob;
}

static inline bool receiver_in_stub(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u64 name, word;

	return !memory_read(memory, &name, 8, c->compiled_seen.blob + c->jvm.receiver.blob_name) &&
	       !memory_read(memory, &word, 8, name) && word == RECEIVER_BLOB_NAME;
}

/* Into c->receiver; its identity proves to userspace that it is the same class yet. */
static inline bool receiver_find(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u64 klass, symbol, word;

	if (!receiver_in_stub(c, memory))
		return false;
	klass = object_klass(&c->jvm.receiver.object, memory, c->leaf_regs[DWARF_RSI]);
	symbol = interpreted_metadata(memory, klass, c->jvm.klass_name);
	word = interpreted_metadata(memory, symbol, 0);
	c->receiver = klass;
	c->receiver_identity = WIRE_CLASS_IDENTITY(symbol, word, c->jvm.symbol_mask);
	if (!word)
		c->receivers_unknown++;
	return word != 0;
}

#ifdef __bpf__

UNWIND_ALONE(bool, receiver_find, (struct unwind_cursor * c), c, (c, NULL), false)

#define receiver_find(c, memory) (receiver_find_alone(c) & 1)

#endif

/* Before the stub's own frame. */
static inline enum unwind_verdict receiver_put(struct unwind_cursor *c, wire_u64 *out)
{
	if (cursor_put_frame(c, out, WIRE_FRAME_RECEIVER, WIRE_RECEIVER_WORDS))
		return UNWIND_STOP;
	cursor_put(c, out, c->receiver);
	cursor_put(c, out, c->receiver_identity);
	c->receivers++;
	return UNWIND_GO_ON;
}

#endif
