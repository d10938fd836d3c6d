// SPDX-License-Identifier: Apache-2.0
#include "unwind/unwind_jvms.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"

/*
 * A JVM that is still starting is asked by every sample. A vain look takes from 50 us to 2 ms, the
 * more of it is there: a fifth of the time at most.
 */
#define ASK_AGAIN_NS (2 * NSEC_PER_MSEC)
#define ASK_PAUSES   4
/* A continuation's code is made when the first virtual thread starts. */
#define REFRESH_NS (100 * NSEC_PER_MSEC)

struct layout {
	struct attachment attachment;
	uint32_t pid;
	struct mapping libjvm; /* its path owned */
	uint64_t asked_ns, took_ns;
	struct wire_jvm wire; /* as published; serial 0: it is not */
};

struct unwind_jvms {
	struct table_memory *memory; /* borrowed */
	struct unwind_jvm_source source;
	struct live_processes *live; /* borrowed */
	struct book book;	     /* struct layout, owned */
	uint64_t refreshed_ns;
	struct unwind_jvms_stats stats;
};

struct unwind_jvms *unwind_jvms_new(struct table_memory *memory,
				    const struct unwind_jvm_source *source,
				    struct live_processes *live)
{
	struct unwind_jvms *jvms = xcalloc(1, sizeof(*jvms));

	jvms->memory = memory;
	jvms->source = *source;
	jvms->live = live;
	return jvms;
}

static void free_layout(struct layout *layout)
{
	free(layout->libjvm.path);
	free(layout);
}

static struct layout *layout_of(struct attachment *attachment)
{
	return container_of(attachment, struct layout, attachment);
}

static struct layout *layout_of_process(const struct unwind_jvms *jvms, uint32_t pid)
{
	const struct live_process *process = live_processes_find(jvms->live, pid);

	return process ? book_entry(&jvms->book, &process->attached, struct layout, attachment)
		       : NULL;
}

void unwind_jvms_free(struct unwind_jvms *jvms)
{
	struct attachment **at;

	if (!jvms)
		return;
	vec_for_each (at, &jvms->book.all)
		free_layout(layout_of(*at));
	book_release(&jvms->book);
	free(jvms);
}

/* A child that a JVM forked has its parent's serial. */
static struct layout *find_layout(const struct unwind_jvms *jvms, uint32_t serial)
{
	struct attachment **at;

	if (!serial || serial == WIRE_JVM_PENDING)
		return NULL;
	vec_for_each (at, &jvms->book.all)
		if (layout_of(*at)->wire.serial == serial)
			return layout_of(*at);
	return NULL;
}

const struct wire_jvm *unwind_jvms_find(const struct unwind_jvms *jvms, uint32_t serial)
{
	const struct layout *layout = find_layout(jvms, serial);

	return layout ? &layout->wire : NULL;
}

/* --- publishing ------------------------------------------------------------------------------- */

static struct layout *get_or_add(struct unwind_jvms *jvms, uint32_t pid,
				 const struct mapping *libjvm)
{
	struct layout *layout = layout_of_process(jvms, pid);

	if (layout && layout->libjvm.start == libjvm->start)
		return layout;
	unwind_jvms_forget(jvms, pid); /* its exec was not reported yet */
	layout = xcalloc(1, sizeof(*layout));
	layout->pid = pid;
	layout->libjvm = *libjvm;
	layout->libjvm.path = xstrdup(libjvm->path);
	book_attach(&jvms->book, &live_processes_get(jvms->live, pid)->attached,
		    &layout->attachment);
	return layout;
}

static int publish(struct unwind_jvms *jvms, struct layout *layout, const struct wire_jvm *wire)
{
	int r = jvms->memory->set_jvm(wire->serial, wire, jvms->memory->data);

	if (r < 0)
		return r;
	/* The JVM is another one than was thought: its exec is reported late. */
	if (layout->wire.serial && layout->wire.serial != wire->serial)
		jvms->memory->set_jvm(layout->wire.serial, NULL, jvms->memory->data);
	jvms->stats.known += !layout->wire.serial;
	layout->wire = *wire;
	return 0;
}

/* Of the map of JVMs the entry that was asked for least recently: a miss brings it back. */
static bool give_one_up(struct unwind_jvms *jvms)
{
	struct layout *oldest = NULL;
	struct attachment **at;

	vec_for_each (at, &jvms->book.all) {
		struct layout *layout = layout_of(*at);

		if (layout->wire.serial && (!oldest || layout->asked_ns < oldest->asked_ns))
			oldest = layout;
	}
	if (!oldest)
		return false;
	unwind_jvms_forget(jvms, oldest->pid);
	return true;
}

/* It was asked only just now. */
static bool pauses(const struct layout *layout, uint64_t now_ns)
{
	uint64_t pause_ns = MAX(ASK_AGAIN_NS, ASK_PAUSES * layout->took_ns);

	return layout->asked_ns && now_ns - layout->asked_ns < pause_ns;
}

/* Not by every sample. */
static bool may_ask(struct layout *layout, uint64_t now_ns)
{
	if (pauses(layout, now_ns))
		return false;
	layout->asked_ns = now_ns;
	return true;
}

bool unwind_jvms_pauses(const struct unwind_jvms *jvms, uint32_t pid, uint64_t now_ns)
{
	const struct layout *layout = layout_of_process(jvms, pid);

	return layout && !layout->wire.serial && pauses(layout, now_ns);
}

static int ask(struct unwind_jvms *jvms, struct layout *layout, uint64_t now_ns,
	       struct wire_jvm *ret_wire)
{
	uint64_t begin_ns = clock_now_ns();
	int r;

	if (!may_ask(layout, now_ns))
		return -EAGAIN;
	r = jvms->source.read(layout->pid, &layout->libjvm, true, ret_wire, jvms->source.data);
	layout->took_ns = clock_now_ns() - begin_ns;
	jvms->stats.reads++;
	jvms->stats.read_ns += layout->took_ns;
	return r < 0 ? -EAGAIN : 0;
}

int unwind_jvms_learn(struct unwind_jvms *jvms, uint32_t pid, const struct mapping *libjvm,
		      uint64_t now_ns, const struct wire_jvm **ret_wire)
{
	struct layout *layout = get_or_add(jvms, pid, libjvm);
	struct wire_jvm wire;
	int r = 0;

	if (!layout->wire.serial) {
		r = ask(jvms, layout, now_ns, &wire);
		jvms->stats.waits += r < 0;
		while (r == 0 && (r = publish(jvms, layout, &wire)) == -E2BIG)
			r = give_one_up(jvms) ? 0 : -E2BIG;
	}
	if (r < 0)
		return -EAGAIN;
	*ret_wire = &layout->wire;
	return 0;
}

int unwind_jvms_read(struct unwind_jvms *jvms, uint32_t pid, const struct mapping *libjvm,
		     struct wire_jvm *ret_wire)
{
	if (!libjvm->end)
		return -ENODATA;
	return jvms->source.read(pid, libjvm, true, ret_wire, jvms->source.data);
}

void unwind_jvms_note_far(struct unwind_jvms *jvms, const struct wire_jvm *wire, uint64_t pc,
			  uint64_t blob)
{
	const struct wire_far_key key = { .segment = pc & ~((1ULL << wire->log2_segment) - 1),
					  .serial = wire->serial };

	if (jvms->memory->set_far_blob(&key, blob, jvms->memory->data) == 0)
		jvms->stats.far_blobs++;
}

/* --- news ------------------------------------------------------------------------------------- */

void unwind_jvms_forget(struct unwind_jvms *jvms, uint32_t pid)
{
	struct layout *layout = layout_of_process(jvms, pid);

	if (!layout)
		return;
	if (layout->wire.serial) {
		jvms->memory->set_jvm(layout->wire.serial, NULL, jvms->memory->data);
		jvms->stats.known--;
	}
	book_detach(&jvms->book, &live_processes_get(jvms->live, pid)->attached,
		    &layout->attachment);
	free_layout(layout);
}

static bool refresh(struct unwind_jvms *jvms, struct layout *layout, bool urgent)
{
	struct wire_jvm wire;

	if (!layout->wire.serial ||
	    jvms->source.read(layout->pid, &layout->libjvm, urgent, &wire, jvms->source.data) < 0 ||
	    memcmp(&wire, &layout->wire, sizeof(wire)) == 0)
		return false;
	jvms->stats.changes++;
	return publish(jvms, layout, &wire) == 0;
}

const struct wire_jvm *unwind_jvms_refresh(struct unwind_jvms *jvms, uint32_t serial,
					   uint64_t now_ns)
{
	struct layout *layout = find_layout(jvms, serial);

	return layout && may_ask(layout, now_ns) && refresh(jvms, layout, true) ? &layout->wire
										: NULL;
}

void unwind_jvms_turn(struct unwind_jvms *jvms, uint64_t now_ns)
{
	struct attachment **at;

	if (now_ns - jvms->refreshed_ns < REFRESH_NS)
		return;
	jvms->refreshed_ns = now_ns;
	vec_for_each (at, &jvms->book.all)
		refresh(jvms, layout_of(*at), false);
}

void unwind_jvms_get_stats(const struct unwind_jvms *jvms, struct unwind_jvms_stats *ret_stats)
{
	*ret_stats = jvms->stats;
}
