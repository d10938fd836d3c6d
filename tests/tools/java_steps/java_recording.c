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

/* Deeper stacks say nothing more. */
#define MAX_FRAMES 40

struct java_recording {
	const struct vmstructs *vs;
	const struct jvm_layout *layout;
	struct live_walk *walk;
	struct frame_names *names;
	struct hmap seen;	   /* hash of a state's name */
	struct hmap shared;	   /* address -> byte that all stacks see */
	struct recorded_bytes own; /* of the stack at hand */
	struct recorded_tables tables;
	struct strbuf stacks; /* their text */
};

struct java_recording *java_recording_new(const struct vmstructs *vs,
					  const struct jvm_layout *layout, struct live_walk *walk,
					  struct frame_names *names)
{
	struct java_recording *r = xcalloc(1, sizeof(*r));

	r->vs = vs;
	r->layout = layout;
	r->walk = walk;
	r->names = names;
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

/* --- one stack -------------------------------------------------------------------------------- */

static void add_word(struct strbuf *text, const char *name)
{
	for (; *name; name++)
		strbuf_addch(text, isspace((unsigned char)*name) ? '_' : *name);
	strbuf_addch(text, '\n');
}

static void add_stack(struct java_recording *r, const char *state,
		      const struct user_regs_struct *regs, const struct live_stack *stack)
{
	uint64_t ordered[16];

	live_walk_order(regs, ordered);
	strbuf_addf(&r->stacks, "stack %s\npc %#llx\n", state, regs->rip);
	for (int i = 0; i < 16; i++)
		strbuf_addf(&r->stacks, "reg %d %#" PRIx64 "\n", i, ordered[i]);
	strbuf_addf(&r->stacks, "thread %#" PRIx64 "\n", live_walk_thread(r->walk));
	for (size_t i = 0; i < stack->count; i++) {
		const struct live_frame *frame = &stack->frames[i];

		strbuf_addf(&r->stacks, "frame %#" PRIx64 " ", live_frame_address(frame));
		add_word(&r->stacks, frame_names_find(r->names, frame));
	}
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
	add_stack(r, state, regs, stack);
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
