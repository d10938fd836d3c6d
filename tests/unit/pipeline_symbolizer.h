/* SPDX-License-Identifier: Apache-2.0 */
/* The symbolizer of a pipeline that is made up (pipeline_parts.h). */
#ifndef HOSTPROF_TESTS_PIPELINE_SYMBOLIZER_H
#define HOSTPROF_TESTS_PIPELINE_SYMBOLIZER_H

#include "pipeline_notes.h"
#include "symbolize/words/sample_words.h"

void symbolizer_set_pool(struct symbolizer *symbolizer, struct worker_pool *pool)
{
	assert_non_null(symbolizer);
	assert_non_null(pool);
}

struct symbolizer *symbolizer_new(struct image_cache *images, struct jvm_table *jvms)
{
	assert_true(images && jvms);
	return A_POINTER(symbolizer);
}

void symbolizer_keep_jvm_frames(struct symbolizer *symbolizer, bool keep)
{
	(void)symbolizer;
	if (keep)
		note("JVM frames stay");
}

void symbolizer_free(struct symbolizer *symbolizer)
{
	(void)symbolizer;
}

bool symbolizer_arrive(struct symbolizer *symbolizer, struct process *process,
		       const struct wire_sample *sample)
{
	(void)symbolizer;
	if (process)
		note("arrive %u%s", number(process->pid), sample->flags ? " unfinished" : "");
	return (process && parts.is_jvm) || !sample_words_need_names(sample);
}

void symbolizer_read_names(struct jvm *jvm, const struct wire_sample *sample)
{
	assert_non_null(jvm);
	note("names from jvm of %u", number(sample->tgid));
}

/* One frame of that name, and the thread's name. */
static struct symbolized symbolized_as(struct profile *profile, const struct process *process,
				       const struct wire_sample *sample, const char *frame_name)
{
	struct profile_frame frame = { .name = profile_string(profile, frame_name),
				       .mapping = PROFILE_NONE };
	uint32_t id = profile_frame(profile, &frame);
	struct symbolized made = { .stack = profile_stack(profile, &id, 1),
				   .thread_name =
					   profile_strn(profile, sample->comm,
							strnlen(sample->comm, WIRE_COMM_LEN)) };

	if (!process || !parts.is_jvm)
		return made;
	made.jvm = A_POINTER(jvm);
	made.java_tid = 31;
	if (parts.thread_name)
		made.thread_name = profile_string(profile, parts.thread_name);
	return made;
}

struct symbolized symbolizer_take(struct symbolizer *symbolizer, struct profile *profile,
				  struct process *process, const struct wire_sample *sample)
{
	(void)symbolizer;
	note("stack of %u%s", number(process->pid), sample->flags ? " unfinished" : "");
	return symbolized_as(profile, process, sample, "frame");
}

bool symbolizer_try(struct symbolizer *symbolizer, struct profile *profile, struct process *process,
		    const struct wire_sample *sample, struct symbolized *ret)
{
	if (parts.asked_if_ready)
		parts.asked_if_ready();
	if (parts.not_ready)
		return false;
	*ret = symbolizer_take(symbolizer, profile, process, sample);
	return true;
}

/* Frames of what is known of the process. */
struct symbolized symbolizer_take_now(struct symbolizer *symbolizer, struct profile *profile,
				      struct process *process, const struct wire_sample *sample)
{
	const char *known = parts.early_frame ? parts.early_frame : "frame";

	(void)symbolizer;
	note("early stack of %u%s", number(sample->tgid), process ? "" : ", not known");
	return symbolized_as(profile, process, sample, process ? known : "raw");
}

const char *symbolizer_variable_of_kernel(struct symbolizer *symbolizer, uint64_t address)
{
	(void)symbolizer;
	(void)address;
	return NULL;
}

const char *symbolizer_kernel_failure(const struct symbolizer *symbolizer)
{
	(void)symbolizer;
	return parts.kernel_failure ? parts.kernel_failure : "";
}

void symbolizer_forget(struct symbolizer *symbolizer, struct process *process)
{
	(void)symbolizer;
	note("forget names %u", number(process->pid));
}

void symbolizer_reset_ids(struct symbolizer *symbolizer)
{
	(void)symbolizer;
	note("reset ids");
}

#endif
