/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/jvm_live.h"

#include "base/clock.h"
#include "jvm/jvm_private.h"

/* An agent follows 8,192; who tells of more, tells nonsense. */
#define MAX_ALIVE 65536
/* So many wait for their samples; of more that went some are taken for alive until the report. */
#define MAX_GONE 65536

void jvm_live_release(struct jvm_live *live)
{
	vec_release(&live->gone);
	vec_release(&live->alive);
}

static void take_gone(struct jvm_live *live, const struct codemap_event *event, uint64_t now_ns)
{
	live->level = MAX(live->level, event->objects.level);
	for (uint32_t i = 0; i < event->objects.count && live->gone.len < MAX_GONE; i++) {
		const struct jvm_gone gone = { now_ns, event->objects.items[i].id };

		vec_push(&live->gone, gone);
	}
}

static void take_alive(struct jvm_live *live, const struct codemap_event *event)
{
	live->report_level = MAX(live->report_level, event->objects.level);
	for (uint32_t i = 0; i < event->objects.count && live->alive.len < MAX_ALIVE; i++)
		vec_push(&live->alive, event->objects.items[i]);
	if (event->kind == CODEMAP_LIVE_END)
		live->state = JVM_LIVE_TOLD;
}

void jvm_live_take(struct jvm *jvm, const struct codemap_event *event)
{
	struct jvm_live *live = &jvm->live;

	if (event->kind == CODEMAP_GONE)
		take_gone(live, event, clock_now_ns());
	else if (live->state == JVM_LIVE_ASKED && event->objects.seq == live->seq)
		take_alive(live, event);
}

/* A command takes the place of one that is not carried out yet: a replay's is waited for. */
static void try_ask(struct jvm *jvm)
{
	struct jvm_live *live = &jvm->live;

	if (!codemap_reader_is_done(&jvm->reader))
		return;
	codemap_reader_command(&jvm->reader,
			       live->collect ? CODEMAP_COMMAND_LIVE_COLLECT : CODEMAP_COMMAND_LIVE,
			       0);
	live->seq = jvm->reader.seq;
	live->state = JVM_LIVE_ASKED;
}

void jvm_live_poll(struct jvm *jvm)
{
	if (jvm->live.state == JVM_LIVE_WANTED)
		try_ask(jvm);
}

bool jvm_live_is_due(const struct jvm *jvm)
{
	return jvm->live.state == JVM_LIVE_WANTED || jvm->live.state == JVM_LIVE_ASKED;
}

void jvm_live_ask(struct jvm *jvm, bool collect, uint64_t until_ns)
{
	if (!jvm->live.follows || !jvm->reader.leased)
		return;
	jvm->live.collect = collect;
	jvm->live.until_ns = until_ns;
	jvm->live.state = JVM_LIVE_WANTED;
	try_ask(jvm);
}

bool jvm_live_is_waited_for(const struct jvm *jvm, uint64_t now_ns)
{
	return jvm_live_is_due(jvm) && jvm->reader.leased && now_ns < jvm->live.until_ns;
}

void jvm_live_hand_out_gone(struct jvm *jvm, uint64_t until_ns, jvm_gone_fn fn, void *data)
{
	struct jvm_live *live = &jvm->live;
	size_t n = 0;

	if (!jvm->serial)
		return;
	if (live->level > live->level_told)
		fn(jvm->serial, 0, live->level, data);
	live->level_told = live->level;
	while (n < live->gone.len && live->gone.items[n].time_ns <= until_ns)
		fn(jvm->serial, live->gone.items[n++].id, live->level, data);
	if (n)
		vec_remove(&live->gone, 0, n);
}

bool jvm_live_report(const struct jvm *jvm, struct jvm_live_report *ret_report)
{
	const struct jvm_live *live = &jvm->live;
	static const struct codemap_object none;

	if (live->state == JVM_LIVE_NONE)
		return false;
	*ret_report = (struct jvm_live_report){ .pid = jvm->pid, .serial = jvm->serial };
	if (live->state != JVM_LIVE_TOLD)
		return true;
	ret_report->alive = live->alive.len ? live->alive.items : &none;
	ret_report->count = live->alive.len;
	ret_report->level = live->report_level;
	return true;
}
