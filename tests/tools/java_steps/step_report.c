// SPDX-License-Identifier: Apache-2.0
#include "step_report.h"

#include <inttypes.h>
#include <string.h>

#include "base/hmap.h"
#include "base/strbuf.h"

/* Of a suspicious stack so many frames are shown, and bytes of code before and from its pc. */
#define SHOWN_FRAMES 7
#define SHOWN_BEHIND 24
#define SHOWN_BYTES  56
#define SHOWN_WORDS  10

struct place {
	uint64_t count;
	char *text; /* owned */
};

struct step_report {
	const struct vmstructs *vs;
	struct frame_names *names;
	const struct live_walk *walk;
	struct intern lists; /* texts of name lists */
	VEC(uint64_t) list_counts;
	struct hmap place_index; /* hash of what it is -> index */
	VEC(struct place) places;
	uint64_t changes[STEP_CHANGE_COUNT];
	struct strbuf text;
};

static const char *const change_names[STEP_CHANGE_COUNT] = {
	[STEP_SAME] = "same",
	[STEP_CALL] = "call",
	[STEP_RETURN] = "return",
	[STEP_JUMP] = "jump",
	[STEP_SIGNAL] = "signal",
	[STEP_SWITCH] = "switch",
	[STEP_UNFINISHED] = "unfinished",
	[STEP_ODD] = "odd",
};

static const char *const reason_ids[UNWIND_REASON_COUNT] = {
#define UNWIND_REASON(name, id, whole, text) [UNWIND_##name] = id,
#include "unwind_reasons.def"
#undef UNWIND_REASON
};

struct step_report *step_report_new(const struct vmstructs *vs, struct frame_names *names,
				    const struct live_walk *walk)
{
	struct step_report *report = xcalloc(1, sizeof(*report));

	report->vs = vs;
	report->names = names;
	report->walk = walk;
	intern_init(&report->lists);
	return report;
}

void step_report_free(struct step_report *report)
{
	struct place *place;

	if (!report)
		return;
	vec_for_each (place, &report->places)
		free(place->text);
	vec_release(&report->places);
	hmap_release(&report->place_index);
	intern_release(&report->lists);
	vec_release(&report->list_counts);
	strbuf_release(&report->text);
	free(report);
}

/* Leaf first; a run of frames in one library, but for the tests' own, is one name. */
static void add_names(const struct step_report *report, const struct live_stack *stack, size_t most,
		      struct strbuf *text)
{
	const char *last = "";

	for (size_t i = 0; i < stack->count && i < most; i++) {
		const char *name = frame_names_find(report->names, &stack->frames[i]);

		if (strcmp(name, last) == 0 && strncmp(name, "N:", 2) == 0 &&
		    strcmp(name, "N:libsteps.so") != 0)
			continue;
		strbuf_addf(text, "%s%s", last[0] ? ";" : "", name);
		last = name;
	}
}

static void count_list(struct step_report *report, const struct live_stack *stack)
{
	bool is_new;
	uint32_t id;

	strbuf_reset(&report->text);
	strbuf_addf(&report->text, "%s ", reason_ids[stack->reason]);
	add_names(report, stack, SIZE_MAX, &report->text);
	id = intern_put(&report->lists, report->text.buf, report->text.len + 1, &is_new);
	if (is_new)
		vec_push(&report->list_counts, 0);
	report->list_counts.items[id]++;
}

/* --- places ----------------------------------------------------------------------------------- */

static void add_code(const struct step_report *report, uint64_t pc, struct strbuf *text)
{
	uint8_t code[SHOWN_BYTES] = { 0 };

	live_walk_read(report->walk, pc - SHOWN_BEHIND, code, sizeof(code));
	for (size_t i = 0; i < sizeof(code); i++)
		strbuf_addf(text, "%s%02x", i == SHOWN_BEHIND ? " | " : "", code[i]);
}

static void add_place(const struct step_report *report, const struct user_regs_struct *regs,
		      struct strbuf *text)
{
	struct code_blob blob;
	uint64_t word;

	strbuf_addf(text, "\n    pc %#llx", regs->rip);
	if (code_blob_find(report->vs, regs->rip, &blob) == 0)
		strbuf_addf(text,
			    " = %s + %" PRId64 " (blob %#" PRIx64 " size %d, frame %d words, "
			    "complete at %d, level %d)",
			    blob.name, (int64_t)(regs->rip - blob.code_begin), blob.address,
			    blob.size, blob.frame_size, blob.frame_complete, blob.level);
	strbuf_addstr(text, "\n    code ");
	add_code(report, regs->rip, text);
	strbuf_addf(text,
		    "\n    rsp %#llx rbp %#llx rax %#llx rbx %#llx r13 %#llx r15 %#llx\n    [rsp]",
		    regs->rsp, regs->rbp, regs->rax, regs->rbx, regs->r13, regs->r15);
	for (uint64_t i = 0; i < SHOWN_WORDS; i++)
		if (live_walk_read(report->walk, regs->rsp + 8 * i, &word, 8) == 0)
			strbuf_addf(text, " %#" PRIx64, word);
}

static void add_addresses(const struct step_report *report, const char *what,
			  const struct live_stack *stack, struct strbuf *text)
{
	strbuf_addf(text, "\n    %s %zu frames:", what, stack->count);
	for (size_t i = 0; i < stack->count && i < SHOWN_FRAMES; i++)
		strbuf_addf(text, " %s@%#" PRIx64,
			    frame_names_find(report->names, &stack->frames[i]),
			    live_frame_address(&stack->frames[i]));
}

/* Places with the same code before and at pc are one. */
static uint64_t place_key(const struct step_report *report, enum step_change change, uint64_t pc,
			  const char *leaf)
{
	uint8_t code[24] = { 0 };

	live_walk_read(report->walk, pc - 8, code, sizeof(code));
	return hash_bytes(code, sizeof(code)) ^ hash_bytes(leaf, strlen(leaf)) ^ (uint64_t)change;
}

static void note_place(struct step_report *report, enum step_change change,
		       const struct user_regs_struct *regs, const struct live_stack *from,
		       const struct live_stack *to)
{
	const char *leaf = to->count ? frame_names_find(report->names, &to->frames[0]) : "";
	uint64_t key = place_key(report, change, regs->rip, leaf), at;
	struct strbuf text = STRBUF_INIT;
	struct place place = { 0 };

	if (!hmap_get(&report->place_index, key, &at)) {
		strbuf_addf(&text, "%s in %s, %s", change_names[change], leaf,
			    reason_ids[to->reason]);
		add_place(report, regs, &text);
		add_addresses(report, "before", from, &text);
		add_addresses(report, "now   ", to, &text);
		place.text = strbuf_take(&text);
		at = report->places.len;
		hmap_put(&report->place_index, key, at);
		vec_push(&report->places, place);
	}
	report->places.items[at].count++;
}

/* ---------------------------------------------------------------------------------------------- */

void step_report_add(struct step_report *report, enum step_change change,
		     const struct user_regs_struct *regs, const struct live_stack *from,
		     const struct live_stack *to)
{
	report->changes[change]++;
	count_list(report, to);
	if (change >= STEP_UNFINISHED)
		note_place(report, change, regs, from, to);
}

void step_report_print(const struct step_report *report)
{
	const struct place *place;

	for (size_t i = 0; i < report->list_counts.len; i++)
		printf("stack %" PRIu64 " %s\n", report->list_counts.items[i],
		       (const char *)intern_get(&report->lists, (uint32_t)i, NULL));
	vec_for_each (place, &report->places)
		printf("place %" PRIu64 " %s\n", place->count, place->text);
	for (int i = 0; i < STEP_CHANGE_COUNT; i++)
		printf("steps %s %" PRIu64 "\n", change_names[i], report->changes[i]);
}
