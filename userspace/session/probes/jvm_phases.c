// SPDX-License-Identifier: Apache-2.0
#include "session/probes/jvm_phases.h"

#include <errno.h>

#include "base/macros.h"
#include "session/probes/class_form.h"
#include "session/probes/jit_form.h"
#include "session/probes/jvm_probes.h"

/* By hotspot.d and hs_private.d of src/hotspot/os/posix/dtrace. */
static const struct jvm_probe safepoint_probes[WIRE_SAFEPOINT_STEPS] = {
	[WIRE_SAFEPOINT_BEGIN] = { "hs_private", "safepoint__begin", NULL },
	[WIRE_SAFEPOINT_OPERATION] = { "hotspot", "vmops__begin", NULL },
	[WIRE_SAFEPOINT_OPERATION_END] = { "hotspot", "vmops__end", NULL },
	[WIRE_SAFEPOINT_END] = { "hs_private", "safepoint__end", NULL },
};

static const struct jvm_probe jit_probes[WIRE_JIT_STEPS] = {
	[WIRE_JIT_BEGIN] = { "hotspot", "method__compile__begin", NULL },
	[WIRE_JIT_END] = { "hotspot", "method__compile__end", jit_form },
};

static const struct jvm_probe gc_probes[WIRE_GC_STEPS] = {
	[WIRE_GC_OPERATION] = { "hotspot", "vmops__begin", NULL },
	[WIRE_GC_BEGIN] = { "hotspot", "gc__begin", NULL },
	[WIRE_GC_POOL] = { "hotspot", "mem__pool__gc__begin", NULL },
	[WIRE_GC_OPERATION_END] = { "hotspot", "vmops__end", NULL },
};

static const struct jvm_probe class_probes[] = {
	{ "hotspot", "class__loaded", class_form },
};

static const struct {
	const struct jvm_probe *probes;
	uint32_t count;
} rows[JVM_PHASE_COUNT] = {
	[JVM_PHASE_SAFEPOINT] = { safepoint_probes, WIRE_SAFEPOINT_STEPS },
	[JVM_PHASE_JIT] = { jit_probes, WIRE_JIT_STEPS },
	[JVM_PHASE_CLASSLOAD] = { class_probes, ARRAY_SIZE(class_probes) },
	[JVM_PHASE_GC] = { gc_probes, WIRE_GC_STEPS },
};

/* Of these BPF tells more when it knows more. */
#define KNOW_MORE (1U << JVM_PHASE_JIT | 1U << JVM_PHASE_GC)

static int publish(struct jvm *jvm, const struct process *process, void *data)
{
	struct jvm_phases *phases = data;
	struct wire_phases known = { 0 };
	int r = jvm_get_phases(jvm, phases->wanted & 1U << JVM_PHASE_GC, &known), set = 0;

	/* What is known already is good. */
	if (r != -EOPNOTSUPP)
		set = capture_set_phases(phases->capture, process->pid, &known);
	return set < 0 ? set : r;
}

static void drop(uint32_t pid, void *data)
{
	struct jvm_phases *phases = data;

	(void)capture_set_phases(phases->capture, pid, NULL);
}

void jvm_phases_init(struct jvm_phases *phases, struct capture *capture, struct jvm_table *jvms,
		     uint32_t wanted)
{
	const struct jvm_watch_ops ops = { publish, drop, phases, JVM_WATCH_WAIT_NS };

	phases->capture = capture;
	phases->wanted = wanted;
	phases->seen = 0;
	jvm_watch_init(&phases->watch, &ops, jvms);
}

void jvm_phases_release(struct jvm_phases *phases)
{
	jvm_watch_release(&phases->watch);
}

void jvm_phases_add(struct jvm_phases *phases, struct process *process,
		    void (*unseen)(enum jvm_phase phase, const struct err *err, void *data),
		    void *data)
{
	if (jvm_watch_has(&phases->watch, process))
		return;
	for (enum jvm_phase i = 0; i < JVM_PHASE_COUNT; i++) {
		struct err err = { 0 };

		if (!(phases->wanted & 1U << i))
			continue;
		if (jvm_probes_open(phases->capture, process, jvm_phase_trigger(i), rows[i].probes,
				    rows[i].count, &err) < 0)
			unseen(i, &err, data);
		else
			phases->seen |= 1U << i;
	}
	if (phases->wanted & KNOW_MORE)
		jvm_watch_add(&phases->watch, process);
}

void jvm_phases_poll(struct jvm_phases *phases, uint64_t now_ns)
{
	jvm_watch_poll(&phases->watch, now_ns);
}

void jvm_phases_forget(struct jvm_phases *phases, const struct process *process)
{
	jvm_watch_forget(&phases->watch, process);
}
