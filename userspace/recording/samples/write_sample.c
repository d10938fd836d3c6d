/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/samples/write_sample.h"

struct jfr_labels jfr_thread_labels(const struct jfr_pools *pools, const struct profile *p,
				    uint32_t thread)
{
	struct jfr_labels labels = { 0, 0, 0 };
	const struct profile_process *proc;
	uint32_t process;

	if (thread == PROFILE_NONE)
		return labels;
	process = profile_get_thread(p, thread)->process;
	if (process == PROFILE_NONE)
		return labels;
	proc = profile_get_process(p, process);
	labels.pid = proc->pid;
	labels.name = jfr_string_key(pools, proc->name);
	labels.container = jfr_string_key(pools, proc->container_id);
	return labels;
}

struct jfr_labels jfr_sample_labels(const struct jfr_pools *pools, const struct profile *p,
				    const struct profile_sample *s)
{
	return jfr_thread_labels(pools, p, s->thread);
}

uint8_t jfr_state_key(uint32_t state)
{
	switch ((enum thread_state)state) {
	case STATE_RUNNING_USER:
	case STATE_RUNNING_KERNEL: return JFR_STATE_RUNNABLE;
	case STATE_SLEEPING: return JFR_STATE_SLEEPING;
	case STATE_BLOCKED: return JFR_STATE_BLOCKED;
	case STATE_QUEUED: return JFR_STATE_QUEUED;
	case STATE_STOPPED: return JFR_STATE_STOPPED;
	case STATE_UNKNOWN: break;
	}
	return JFR_STATE_UNKNOWN;
}

uint64_t jfr_object_class_key(const struct jfr_pools *pools, const struct profile *p,
			      uint32_t stack)
{
	uint32_t frame = jfr_class_frame(p, stack);
	const struct jfr_method *method;

	if (frame == PROFILE_NONE)
		return 0;
	method = intern_get(&pools->methods, pools->frame_methods.items[frame], NULL);
	return jfr_class_key(pools, method->class_id);
}
