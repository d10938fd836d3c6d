/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/samples/write_sample.h"

#include "recording/write_values.h"

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

uint8_t *jfr_put_labels(uint8_t *at, const struct jfr_pools *pools, const struct profile *p,
			const struct profile_sample *s)
{
	struct jfr_labels labels = jfr_sample_labels(pools, p, s);

	*at++ = jfr_state_key(s->state);
	at = jfr_varint(at, labels.pid);
	at = jfr_varint(at, labels.name);
	at = jfr_varint(at, s->count);
	return jfr_varint(at, labels.container);
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

uint8_t *jfr_put_waker(uint8_t *at, const struct jfr_pools *pools, const struct profile *p,
		       const struct profile_sample *s)
{
	static const struct profile_waker nobody = { PROFILE_NONE, PROFILE_NONE };
	const struct profile_waker *waker = s->waker ? profile_get_waker(p, s->waker) : &nobody;
	struct jfr_labels labels = jfr_thread_labels(pools, p, waker->thread);

	if (!p->tells_wakers)
		return at;
	at = jfr_varint(at, jfr_thread_key(pools, waker->thread));
	at = jfr_varint(at, labels.pid);
	at = jfr_varint(at, labels.name);
	return jfr_varint(at, jfr_key(pools, waker->stack));
}
