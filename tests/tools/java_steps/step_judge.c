// SPDX-License-Identifier: Apache-2.0
#include "step_judge.h"

/* The longest instruction has 15 bytes. */
#define MAX_CALL_BYTES 15

static bool same_frame(const struct live_frame *a, const struct live_frame *b)
{
	return (a->words[0] & ~WIRE_FRAME_EXACT) == (b->words[0] & ~WIRE_FRAME_EXACT) &&
	       a->words[1] == b->words[1];
}

/* The frames from I of A on are those from J of B on. */
static bool same_from(const struct live_stack *a, size_t i, const struct live_stack *b, size_t j)
{
	if (a->count < i || b->count < j || a->count - i != b->count - j)
		return false;
	for (; i < a->count; i++, j++)
		if (!same_frame(&a->frames[i], &b->frames[j]))
			return false;
	return true;
}

static bool is_interpreter(const struct wire_jvm *jvm, uint64_t pc)
{
	return pc >= jvm->interpreter_start && pc < jvm->interpreter_end;
}

/* The interpreter pushes the address of another piece of itself and jumps. */
static bool is_call_from(const struct wire_jvm *jvm, const struct live_stack *from,
			 const struct live_stack *to)
{
	uint64_t pc = live_frame_address(&from->frames[0]);
	uint64_t back = live_frame_address(&to->frames[1]);

	if (is_interpreter(jvm, pc))
		return is_interpreter(jvm, back);
	return back > pc && back - pc <= MAX_CALL_BYTES;
}

/* Do both lie in one nmethod? */
static bool same_blob(const struct vmstructs *vs, const struct live_frame *a,
		      const struct live_frame *b)
{
	struct code_blob x, y;

	return code_blob_find(vs, live_frame_address(a), &x) == 0 &&
	       code_blob_find(vs, live_frame_address(b), &y) == 0 && x.address == y.address &&
	       x.method;
}

/*
 * Exceptions: code jumps to the exception blob, which has the throwing pc for its return address
 * (in a register), and jumps back to the handler. Calls by way of a stub in the code itself.
 */
static bool is_jump(const struct vmstructs *vs, const struct live_stack *from,
		    const struct live_stack *to)
{
	if (to->count > 1 && same_from(from, 1, to, 2))
		return same_blob(vs, &from->frames[0], &to->frames[1]);
	if (from->count > 1 && same_from(from, 2, to, 1))
		return same_blob(vs, &from->frames[1], &to->frames[0]);
	return false;
}

static bool is_method(const struct vmstructs *vs, const struct live_frame *frame)
{
	struct code_blob blob;

	return code_blob_find(vs, live_frame_address(frame), &blob) < 0 || blob.method;
}

/*
 * One caller goes on elsewhere in its method: what an exception does to the throwing frame's return
 * address (C1's handle_exception), and a handler of a fault to the context that it returns to.
 */
static bool is_moved(const struct vmstructs *vs, const struct wire_jvm *jvm,
		     const struct live_stack *from, const struct live_stack *to)
{
	size_t i = 1;
	const struct live_frame *a, *b;

	while (i < from->count && i < to->count && same_frame(&from->frames[i], &to->frames[i]))
		i++;
	if (i >= from->count || i >= to->count)
		return false;
	/* Or in a stub that has the method for its caller. */
	if (same_from(from, i, to, i + 1))
		return !is_method(vs, &to->frames[i]);
	if (!same_from(from, i + 1, to, i + 1))
		return false;
	a = &from->frames[i];
	b = &to->frames[i];
	if (is_interpreter(jvm, live_frame_address(a)))
		return is_interpreter(jvm, live_frame_address(b)) && a->words[1] == b->words[1];
	return same_blob(vs, a, b);
}

/*
 * Native code takes away the frame that a stub returns to: a method that is not entered after all
 * (BarrierSetNMethod::deoptimize()).
 */
static bool is_removed(const struct vmstructs *vs, const struct wire_jvm *jvm,
		       const struct live_stack *from, const struct live_stack *to)
{
	uint64_t pc = live_frame_address(&to->frames[0]);
	struct code_blob stub, gone;
	size_t i = 1;

	if (from->count != to->count + 1 || (pc >= jvm->code_start && pc < jvm->code_end))
		return false;
	while (i < to->count && same_frame(&from->frames[i], &to->frames[i]))
		i++;
	return same_from(from, i + 1, to, i) &&
	       code_blob_find(vs, live_frame_address(&from->frames[i - 1]), &stub) == 0 &&
	       code_blob_find(vs, live_frame_address(&from->frames[i]), &gone) == 0 &&
	       !stub.method && stub.frame_size == 0 && gone.method;
}

/* Of the blob that holds the return barrier. */
#define MAX_CONTINUATION_STUB 1024

static bool in_continuation_stub(const struct wire_jvm *jvm, const struct live_stack *stack)
{
	uint64_t pc = live_frame_address(&stack->frames[0]);

	return jvm->return_barrier &&
	       pc - jvm->return_barrier + MAX_CONTINUATION_STUB < 2 * MAX_CONTINUATION_STUB;
}

/* The frame behind enterSpecial(), 0: there is none. */
static size_t carrier_at(const struct vmstructs *vs, const struct wire_jvm *jvm,
			 const struct live_stack *stack)
{
	const struct live_frame enter = { .words = { jvm->enter_return } };

	for (size_t i = 0; jvm->enter_return && i < stack->count; i++)
		if (same_blob(vs, &stack->frames[i], &enter))
			return i + 1;
	return 0;
}

/*
 * A virtual thread's frames come or go at once, in a stub or in doYield(), which has taken
 * enterSpecial()'s frame for its own by then; the carrier's stay.
 */
static bool is_switch(const struct vmstructs *vs, const struct wire_jvm *jvm,
		      const struct live_stack *from, const struct live_stack *to)
{
	size_t at = carrier_at(vs, jvm, from), rest = from->count - at;

	if (!at || to->count <= rest || !same_from(from, at, to, to->count - rest))
		return false;
	return in_continuation_stub(jvm, from) || in_continuation_stub(jvm, to) ||
	       to->count == rest + 1;
}

enum step_change step_judge(const struct vmstructs *vs, const struct wire_jvm *jvm,
			    const struct live_stack *from, const struct live_stack *to)
{
	if (to->reason != UNWIND_DONE || !to->count)
		return STEP_UNFINISHED;
	if (same_from(from, 1, to, 1))
		return STEP_SAME;
	if (same_from(from, 1, to, 2) && is_call_from(jvm, from, to))
		return STEP_CALL;
	/* The instruction that returned to is the one that is next: the same address. */
	if (from->count > 1 && same_from(from, 2, to, 1) &&
	    live_frame_address(&from->frames[1]) == live_frame_address(&to->frames[0]))
		return STEP_RETURN;
	if (same_from(from, 0, to, 2))
		return STEP_SIGNAL;
	if (is_switch(vs, jvm, from, to))
		return STEP_SWITCH;
	if (is_jump(vs, from, to) || is_moved(vs, jvm, from, to) || is_removed(vs, jvm, from, to))
		return STEP_JUMP;
	return STEP_ODD;
}
