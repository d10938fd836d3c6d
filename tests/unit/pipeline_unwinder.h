/* SPDX-License-Identifier: Apache-2.0 */
/* The unwinder of a pipeline that is made up (pipeline_parts.h). */
#ifndef HOSTPROF_TESTS_PIPELINE_UNWINDER_H
#define HOSTPROF_TESTS_PIPELINE_UNWINDER_H

#include "pipeline_notes.h"

struct unwinder *unwinder_new(struct table_memory *memory, struct image_cache *images,
			      const struct unwind_jvm_source *jvms, size_t file_bytes)
{
	assert_true(memory && images);
	note("unwinder files %zu", file_bytes);
	parts.jvm_source = *jvms;
	return A_POINTER(unwinder);
}

void unwinder_set_room(struct unwinder *unwinder, size_t bytes)
{
	(void)unwinder;
	note("unwinder keeps files up to %zu", bytes);
}

void unwinder_free(struct unwinder *unwinder)
{
	(void)unwinder;
}

struct wire_sample *unwinder_try(struct unwinder *unwinder, const struct wire_miss *miss,
				 const struct wire_sample *sample, uint32_t max_frames)
{
	struct wire_sample *finished;

	(void)unwinder;
	note("try %u, %u frames%s", number(sample->tgid), max_frames,
	     miss->time_ns == sample->time_ns ? "" : ", another's");
	if (parts.try_fails)
		return NULL;
	finished = xmemdup(sample, sample->size);
	finished->flags = 0;
	return finished;
}

bool unwinder_wants_again(const struct unwinder *unwinder)
{
	(void)unwinder;
	return parts.wants_again;
}

bool unwinder_waits_for_jvm(const struct unwinder *unwinder, const struct wire_sample *sample)
{
	(void)unwinder;
	return parts.waits_for_jvm && sample->tgid == PID_A;
}

struct wire_sample *unwinder_finish(struct unwinder *unwinder, const struct wire_miss *miss,
				    const struct wire_sample *sample, struct process *process,
				    uint32_t max_frames, bool may_wait)
{
	struct wire_sample *finished;

	(void)unwinder;
	if (may_wait && parts.disk_is_slow) {
		note("finish %u, which is read yet", number(sample->tgid));
		return NULL;
	}
	finished = xmemdup(sample, sample->size);
	assert_int_equal(process->pid, sample->tgid);
	assert_int_equal(miss->time_ns, sample->time_ns);
	note("finish %u, %u frames", number(sample->tgid), max_frames);
	finished->flags = 0;
	return finished;
}

void unwinder_learn_jvm(struct unwinder *unwinder, const struct wire_process *process)
{
	(void)unwinder;
	/* There may be others on this host. */
	parts.learnt += process->tgid == parts.learnt_pid && process->exec_id == FAKE_EXEC_ID;
}

const struct mapping *unwinder_libjvm(const struct unwinder *unwinder,
				      const struct wire_sample *sample)
{
	static const struct mapping libjvm;

	(void)unwinder, (void)sample;
	return parts.is_libjvm ? &libjvm : NULL;
}

bool unwinder_is_busy(const struct unwinder *unwinder)
{
	(void)unwinder;
	if (parts.busy_finishes)
		return parts.busy_finishes--;
	return parts.unwinder_busy;
}

void unwinder_note_mapping(struct unwinder *unwinder, uint32_t pid, const struct mapping *mapping)
{
	(void)unwinder;
	note("unwinder: %u maps %" PRIx64 "-%" PRIx64 "+%" PRIx64 " %s", number(pid),
	     mapping->start, mapping->end, mapping->pgoff, mapping->path);
}

void unwinder_note_stale(struct unwinder *unwinder, const struct wire_sample *sample)
{
	(void)unwinder;
	note("unwinder: %u is stale", number(sample->tgid));
}

void unwinder_note_exec(struct unwinder *unwinder, uint32_t pid, uint64_t time_ns)
{
	(void)unwinder;
	note("unwinder: exec %u at %" PRIu64, number(pid),
	     (uint64_t)((time_ns - parts.start_ns) / MS));
}

void unwinder_note_exit(struct unwinder *unwinder, uint32_t pid)
{
	(void)unwinder;
	note("unwinder: exit %u", number(pid));
}

void unwinder_grant(struct unwinder *unwinder)
{
	(void)unwinder;
	note("grant");
}

void unwinder_turn(struct unwinder *unwinder, uint64_t now_ns)
{
	(void)unwinder;
	assert_int_equal(now_ns, clock_now_ns());
	note("unwinder turn");
}

void unwinder_tidy(struct unwinder *unwinder, uint64_t now_ns)
{
	(void)unwinder;
	assert_int_equal(now_ns, clock_now_ns());
	note("tidy");
}

void unwinder_for_each_figure(const struct unwinder *unwinder,
			      void (*fn)(const char *name, const char *detail, uint64_t value,
					 void *data),
			      void *data)
{
	(void)unwinder;
	fn("unwind.test", "detail", 55, data);
}

#endif
