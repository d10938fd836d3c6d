/* SPDX-License-Identifier: (GPL-2.0-only OR Apache-2.0) */
/* Where the return address of a leaf in a stub may lie: what the words of the stack say. */
#ifndef HOSTPROF_BPF_HOTSPOT_STUB_SCAN_H
#define HOSTPROF_BPF_HOTSPOT_STUB_SCAN_H

#include "hotspot/stub.h"

/* Words of the stack in which a return address is looked for. */
#define STUB_SCAN_WORDS 16

/* Where the call leads whose return address lies at AT, if into this blob; else 0. */
static inline wire_u64 stub_called(struct unwind_cursor *c, struct unwind_memory *memory,
				   wire_u64 at)
{
	wire_u64 word;

	return cursor_load(c, memory, at, &word) ? 0 : compiled_target(c, memory, word);
}

#ifdef __bpf__

UNWIND_ALONE(wire_u64, stub_called, (struct unwind_cursor * c, wire_u64 at), c, (c, NULL, at), 0)

#define stub_called(c, memory, at) stub_called_alone(c, at)

#endif

/* The same, if it is in front of pc. */
static inline wire_u64 stub_start(struct unwind_cursor *c, struct unwind_memory *memory,
				  wire_u64 at)
{
	wire_u64 start = stub_called(c, memory, at);

	return start <= c->pc ? start : 0;
}

/*
 * Does the stub at START make a frame at once? Compiled code leaves an older interpreted frame's
 * address in %rbp, and what called that may have come through a stub of this blob too. Uses c->code.
 */
static inline bool stub_enters(struct unwind_cursor *c, struct unwind_memory *memory,
			       wire_u64 start)
{
	const wire_u8 *p = c->code;

	if (memory_read(memory, c->code, 16, start))
		return false;
	for (int i = 0; i < 12; i++)
		if (p[i] == LEAF_PUSH_RBP && (leaf_u24(p + i + 1) == LEAF_MOV_RBP_JIT ||
					      leaf_u24(p + i + 1) == LEAF_MOV_RBP))
			return true;
	return false;
}

/*
 * Does the frame that %rbp says belong to this stub, when a call that [sp] tells of leads to NEAREST?
 * A stub may have jumped to another with its frame standing (generate_generic_copy() to copies in
 * front of it): where it was called is then behind pc.
 */
static inline bool stub_has_frame(struct unwind_cursor *c, struct unwind_memory *memory,
				  wire_u64 nearest)
{
	wire_u64 start;

	if (!frame_pointer_is_near(c))
		return false;
	start = stub_called(c, memory, c->fp + 8);
	if (start > c->pc)
		return !nearest && stub_enters(c, memory, start);
	return start > nearest && (!nearest || stub_enters(c, memory, start));
}

struct stub_scan {
	struct unwind_cursor *c;
	struct unwind_memory *memory;
	wire_u64 found;
};

static long stub_scan_turn(wire_u32 turn, struct stub_scan *scan)
{
	wire_u64 at = scan->c->sp + 8ULL * (turn + 1);

	scan->found = stub_start(scan->c, scan->memory, at) ? at : 0;
	return scan->found != 0;
}

/*
 * A return address into a caller of this stub: where it lies, or 0. A stack holds old words, and a
 * blob many stubs, so that it is the call to the nearest place in front of pc.
 */
static inline wire_u64 stub_scan(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u64 nearest = stub_start(c, memory, c->sp);
	struct stub_scan scan = { .c = c, .memory = memory };

	if (stub_has_frame(c, memory, nearest))
		return c->fp + 8;
	if (nearest)
		return c->sp;
	unwind_loop(STUB_SCAN_WORDS - 1, stub_scan_turn, &scan);
	return scan.found;
}

#ifdef __bpf__

UNWIND_ALONE(wire_u64, stub_scan, (struct unwind_cursor * c), c, (c, NULL), 0)

#define stub_scan(c, memory) stub_scan_alone(c)

#endif

/*
 * Stubs that use %rbp for a table and align their frame have noted the stack pointer that they came
 * with in it, and the return address lies above what they had pushed until then: sha512_AVX2 has it 56
 * bytes up, sha256_AVX2 536 (macroAssembler_x86_sha.cpp), in frames that end at most so far below it.
 */
#define STUB_NOTE_WORDS	 72
#define STUB_NOTE_BYTES	 96
#define STUB_NOTE_PUSHED 10

struct stub_note {
	struct unwind_cursor *c;
	struct unwind_memory *memory;
	wire_u32 at; /* in words above the stack pointer */
	bool found;
};

static long stub_note_turn(wire_u32 turn, struct stub_note *note)
{
	wire_u64 at = note->c->sp + 8ULL * note->at, word;

	(void)turn;
	if (note->at >= STUB_NOTE_WORDS || cursor_load(note->c, note->memory, at, &word))
		return 1;
	note->found = !(word & 7) && word > at && word - at <= STUB_NOTE_BYTES;
	note->at += !note->found;
	return note->found;
}

/* The first word from c->sp + 8 * FROM on that points so far up; STUB_NOTE_WORDS: none. */
static inline wire_u32 stub_note(struct unwind_cursor *c, struct unwind_memory *memory,
				 wire_u32 from)
{
	struct stub_note note = { .c = c, .memory = memory, .at = from };

	unwind_loop(STUB_NOTE_WORDS, stub_note_turn, &note);
	return note.found ? note.at : STUB_NOTE_WORDS;
}

#ifdef __bpf__

UNWIND_ALONE(wire_u32, stub_note, (struct unwind_cursor * c, wire_u32 from), c, (c, NULL, from),
	     STUB_NOTE_WORDS)

#define stub_note(c, memory, from) stub_note_alone(c, from)

#endif

/*
 * The return address above the stack pointer that word INDEX has: where it lies, or 0. The stub makes a
 * frame at once; what called a dispatch stub of this blob before is on most stacks of Java, too.
 */
static inline wire_u64 stub_above_note(struct unwind_cursor *c, struct unwind_memory *memory,
				       wire_u32 index)
{
	wire_u64 sp, start = 0;
	wire_u32 i;

	if (cursor_load(c, memory, c->sp + 8ULL * index, &sp))
		return 0;
	for (i = 0; i < STUB_NOTE_PUSHED && !start; i++)
		start = stub_start(c, memory, sp + 8ULL * i);
	return start && stub_enters(c, memory, start) ? sp + 8ULL * (i - 1) : 0;
}

#ifdef __bpf__

UNWIND_ALONE(wire_u64, stub_above_note, (struct unwind_cursor * c, wire_u32 index), c,
	     (c, NULL, index), 0)

#define stub_above_note(c, memory, index) stub_above_note_alone(c, index)

#endif

/* Words that may look like one: what was there before. */
#define STUB_NOTES 4

/* Where the return address of a stub lies whose frame is nowhere near %rbp; 0: it has noted none. */
static inline wire_u64 stub_noted(struct unwind_cursor *c, struct unwind_memory *memory)
{
	wire_u64 found = 0;
	wire_u32 index = 0;

	if (frame_pointer_is_near(c))
		return 0;
	for (int i = 0; i < STUB_NOTES && !found; i++) {
		index = stub_note(c, memory, index);
		if (index >= STUB_NOTE_WORDS)
			break;
		found = stub_above_note(c, memory, index);
		index++;
	}
	return found;
}

/* Is there a return address of native code at AT? */
static inline bool stub_is_from_native(struct unwind_cursor *c, struct unwind_memory *memory,
				       wire_u64 at)
{
	wire_u64 ra;

	return !cursor_load(c, memory, at, &ra) && !blob_owns(c, ra) &&
	       leaf_has_called(c, memory, ra);
}

#ifdef __bpf__

UNWIND_ALONE(bool, stub_is_from_native, (struct unwind_cursor * c, wire_u64 at), c, (c, NULL, at),
	     false)

#define stub_is_from_native(c, memory, at) stub_is_from_native_alone(c, at)

#endif

/* Words that get_cpu_info pushes (vm_version_x86.cpp), the frame pointer first. */
#define STUB_NATIVE_PUSHED 5

/* The JVM asks for the processor's features by a stub that has no frame and uses %rbp. */
static inline bool stub_pushes_for_native(struct unwind_cursor *c, struct unwind_memory *memory,
					  struct unwind_rule *rule)
{
	for (wire_u32 i = 1; i <= STUB_NATIVE_PUSHED; i++) {
		wire_u64 at = c->sp + 8ULL * i;

		if (!stub_is_from_native(c, memory, at))
			continue;
		*rule = (struct unwind_rule){ .cfa = at + 8, .ra_at = at, .fp_at = at - 8 };
		return true;
	}
	return false;
}

/*
 * Is there an address of Java code at AT? Of this very blob only behind a call within it: a register
 * that was saved may hold the address that the stub was called by.
 */
static inline bool stub_fits(struct unwind_cursor *c, struct unwind_memory *memory, wire_u64 at)
{
	wire_u64 ra;

	if (cursor_load(c, memory, at, &ra) || !blob_owns(c, ra))
		return false;
	return !blob_holds(c, ra) || compiled_target(c, memory, ra);
}

#ifdef __bpf__

UNWIND_ALONE(bool, stub_fits, (struct unwind_cursor * c, wire_u64 at), c, (c, NULL, at), false)

#define stub_fits(c, memory, at) stub_fits_alone(c, at)

#endif

/* The first place that holds an address of Java code, of those where stubs have it. */
static inline bool stub_guess(struct unwind_cursor *c, struct unwind_memory *memory,
			      struct unwind_rule *rule)
{
	*rule = (struct unwind_rule){ .cfa = c->sp + 8, .ra_at = c->sp };
	if (stub_fits(c, memory, rule->ra_at) || stub_is_from_native(c, memory, c->sp))
		return true;
	*rule = (struct unwind_rule){ .cfa = c->sp + 16, .ra_at = c->sp + 8, .fp_at = c->sp };
	if (stub_fits(c, memory, rule->ra_at))
		return true;
	*rule = compiled_fp_rule(c);
	return frame_pointer_is_near(c) && stub_fits(c, memory, rule->ra_at);
}

#endif
