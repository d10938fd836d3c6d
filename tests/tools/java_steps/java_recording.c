// SPDX-License-Identifier: Apache-2.0
#include "java_recording.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/hmap.h"
#include "base/strbuf.h"
#include "jvm_fields.h"
#include "leaf_state.h"
#include "tools/recorded/recorded_walk.h"

/* Asking takes a third of a second: at most every so many steps. */
#define STEPS_UNASKED 100

/* Deeper stacks say nothing more. */
#define MAX_FRAMES 40

struct java_recording {
	const struct vmstructs *vs;
	const struct jvm_layout *layout;
	struct live_walk *walk;
	struct frame_names *names;
	struct witness *witness; /* or NULL */
	struct seen_calls *seen_calls;
	unsigned int not_asked;	   /* steps since other tools were asked how the stack begins */
	struct hmap seen;	   /* hash of a state's name */
	struct hmap shared;	   /* address -> byte that all stacks see */
	struct recorded_bytes own; /* of the stack at hand */
	struct recorded_tables tables;
	struct strbuf stacks; /* their text */
};

struct java_recording *java_recording_new(const struct vmstructs *vs,
					  const struct jvm_layout *layout, struct live_walk *walk,
					  struct frame_names *names, struct witness *witness,
					  struct seen_calls *seen)
{
	struct java_recording *r = xcalloc(1, sizeof(*r));

	r->vs = vs;
	r->layout = layout;
	r->walk = walk;
	r->names = names;
	r->witness = witness;
	r->seen_calls = seen;
	r->not_asked = STEPS_UNASKED;
	return r;
}

void java_recording_free(struct java_recording *r)
{
	if (!r)
		return;
	hmap_release(&r->seen);
	hmap_release(&r->shared);
	vec_release(&r->own.v);
	recorded_tables_release(&r->tables);
	strbuf_release(&r->stacks);
	free(r);
}

/* --- memory ----------------------------------------------------------------------------------- */

/* What the first stack saw otherwise is this one's own. */
static void keep_bytes(uint64_t address, const void *bytes, size_t len, void *data)
{
	struct java_recording *r = data;
	uint64_t value;

	for (size_t i = 0; i < len; i++, address++) {
		uint8_t byte = ((const uint8_t *)bytes)[i];

		if (!hmap_get(&r->shared, address, &value))
			hmap_put(&r->shared, address, byte);
		else if (value != byte)
			recorded_bytes_add(&r->own, address, byte);
	}
}

static void keep_rows(struct java_recording *r, uint64_t address)
{
	const struct wire_range *range = live_walk_range(r->walk, address);

	if (!range)
		return;
	recorded_tables_keep_range(&r->tables, range);
	if (range->file)
		recorded_tables_keep_rows(&r->tables, range->file, address - range->bias,
					  live_walk_rows(r->walk, range, address));
}

/* THEIRS has '_' for blanks. */
static bool is_same_name(const char *theirs, const char *ours)
{
	for (; *theirs && *ours; theirs++, ours++)
		if (*theirs != (isspace((unsigned char)*ours) ? '_' : *ours))
			return false;
	return *theirs == *ours;
}

static void add_frame(struct java_recording *r, const struct live_frame *frame)
{
	const char *name = frame_names_find(r->names, frame);

	strbuf_addf(&r->stacks, "frame %#" PRIx64 " ", live_frame_address(frame));
	for (; *name; name++)
		strbuf_addch(&r->stacks, isspace((unsigned char)*name) ? '_' : *name);
	strbuf_addch(&r->stacks, '\n');
}

/* --- who confirms it -------------------------------------------------------------------------- */

static bool is_confirmed(struct java_recording *r, const struct live_stack *stack,
			 const struct witness_stack *theirs)
{
	if (theirs->silent[0] || theirs->count != stack->count)
		return false;
	for (size_t i = 0; i < stack->count; i++)
		if (theirs->frames[i].address != live_frame_address(&stack->frames[i]) ||
		    !is_same_name(theirs->frames[i].name,
				  frame_names_find(r->names, &stack->frames[i])))
			return false;
	return true;
}

static bool is_seen(struct java_recording *r, const struct user_regs_struct *regs,
		    const struct live_stack *stack)
{
	if (!seen_calls_check(r->seen_calls, r->walk, regs) ||
	    seen_calls_count(r->seen_calls) != stack->count)
		return false;
	for (size_t i = 0; i < stack->count; i++)
		if (seen_calls_address(r->seen_calls, i) != live_frame_address(&stack->frames[i]))
			return false;
	return true;
}

static void ask(struct java_recording *r, const struct user_regs_struct *regs, uint32_t tid,
		struct witness_stack *ret_theirs)
{
	if (witness_ask(r->witness, tid, regs, ret_theirs) < 0)
		snprintf(ret_theirs->silent, sizeof(ret_theirs->silent), "no answer");
}

static void add_other_answers(struct java_recording *r, const struct witness_stack *theirs)
{
	if (theirs->silent[0])
		strbuf_addf(&r->stacks, "silent %s\n", theirs->silent);
	for (size_t i = 0; i < theirs->count; i++)
		strbuf_addf(&r->stacks, "theirs %#" PRIx64 " %s\n", theirs->frames[i].address,
			    theirs->frames[i].name);
	for (size_t i = 0; r->seen_calls->valid && i < seen_calls_count(r->seen_calls); i++)
		strbuf_addf(&r->stacks, "seen %#" PRIx64 "\n",
			    seen_calls_address(r->seen_calls, i));
}

/* Who has the same frames; what others have instead is for people to look at. */
static void add_witness(struct java_recording *r, const struct user_regs_struct *regs, uint32_t tid,
			const struct live_stack *stack)
{
	static struct witness_stack theirs;
	bool seen;

	if (!r->witness)
		return;
	seen = is_seen(r, regs, stack);
	ask(r, regs, tid, &theirs);
	if (is_confirmed(r, stack, &theirs)) {
		strbuf_addf(&r->stacks, "by jhsdb+gdb%s\n", seen ? "+calls" : "");
		if (!seen)
			seen_calls_start(r->seen_calls, r->walk, regs, &theirs);
	} else if (seen) {
		strbuf_addf(&r->stacks, "by calls\n");
	} else {
		add_other_answers(r, &theirs);
	}
}

/* --- one stack -------------------------------------------------------------------------------- */

static void add_stack(struct java_recording *r, const char *state,
		      const struct user_regs_struct *regs, uint32_t tid,
		      const struct live_stack *stack)
{
	uint64_t ordered[16];

	live_walk_order(regs, ordered);
	strbuf_addf(&r->stacks, "stack %s\npc %#llx\n", state, regs->rip);
	for (int i = 0; i < 16; i++)
		strbuf_addf(&r->stacks, "reg %d %#" PRIx64 "\n", i, ordered[i]);
	strbuf_addf(&r->stacks, "thread %#" PRIx64 "\n", live_walk_thread(r->walk));
	add_witness(r, regs, tid, stack);
	for (size_t i = 0; i < stack->count; i++)
		add_frame(r, &stack->frames[i]);
	recorded_bytes_print(&r->own, &r->stacks);
}

static void record(struct java_recording *r, const char *state, const struct user_regs_struct *regs,
		   uint32_t tid, const struct live_stack *stack)
{
	static struct live_stack again;

	r->own.v.len = 0;
	live_walk_trace(r->walk, keep_bytes, r);
	live_walk_take(r->walk, tid, regs, &again);
	live_walk_trace(r->walk, NULL, NULL);
	if (again.count != stack->count || again.reason != stack->reason)
		return;
	for (size_t i = 0; i < stack->count; i++)
		if (live_frame_kind(&stack->frames[i]) == WIRE_FRAME_CODE)
			keep_rows(r, live_frame_address(&stack->frames[i]) -
					     !(stack->frames[i].words[0] & WIRE_FRAME_EXACT));
	add_stack(r, state, regs, tid, stack);
}

void java_recording_add(struct java_recording *r, const struct user_regs_struct *regs, uint32_t tid,
			const struct live_stack *stack, enum step_change change)
{
	char state[LEAF_STATE_BYTES];
	uint64_t key, value;

	if (stack->count > MAX_FRAMES)
		return;
	leaf_state_name(r->vs, r->layout, r->names, r->walk, regs, stack, change, state);
	key = hash_bytes(state, strlen(state));
	if (hmap_get(&r->seen, key, &value))
		return;
	hmap_put(&r->seen, key, 1);
	record(r, state, regs, tid, stack);
}

void java_recording_begin_seen(struct java_recording *r, const struct user_regs_struct *regs,
			       uint32_t tid, const struct live_stack *stack)
{
	static struct witness_stack theirs;

	if (!r->witness || r->seen_calls->valid || r->not_asked++ < STEPS_UNASKED)
		return;
	r->not_asked = 0;
	ask(r, regs, tid, &theirs);
	if (is_confirmed(r, stack, &theirs))
		seen_calls_start(r->seen_calls, r->walk, regs, &theirs);
}

/* ---------------------------------------------------------------------------------------------- */

static void add_shared(const struct java_recording *r, struct strbuf *text)
{
	struct recorded_bytes bytes = { VEC_INIT };
	uint64_t address, value;

	for (size_t at = 0; hmap_next(&r->shared, &at, &address, &value);)
		recorded_bytes_add(&bytes, address, (uint8_t)value);
	recorded_bytes_print(&bytes, text);
	vec_release(&bytes.v);
}

int java_recording_write(struct java_recording *r, const char *path)
{
	struct strbuf text = STRBUF_INIT;
	FILE *f = fopen(path, "we");

	if (!f)
		return -errno;
	jvm_fields_print(f, &r->layout->wire);
	recorded_tables_print(&r->tables, &text);
	add_shared(r, &text);
	fprintf(f, "%s%s", strbuf_str(&text), strbuf_str(&r->stacks));
	strbuf_release(&text);
	return fclose(f) ? -errno : 0;
}
