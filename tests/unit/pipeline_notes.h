/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the parts of a pipeline that is made up answer (pipeline_parts.h), and what they note of what they are asked: a word, the process's
 * number (PID_A is 1) where there is one, and what else matters.
 */
#ifndef HOSTPROF_TESTS_PIPELINE_NOTES_H
#define HOSTPROF_TESTS_PIPELINE_NOTES_H

#include "jvm/attach/agents.h"
#include "jvm/jvm_live.h"
#include "pipeline_fixture.h"

static struct {
	struct strbuf log;
	bool quiet;		     /* nothing is noted */
	bool is_libjvm;		     /* the unwinder knows a libjvm of every sample */
	bool tells_threads;	     /* of the JVMs' */
	bool is_jvm;		     /* the registry's processes are JVMs */
	const char *unread;	     /* why a JVM is not; NULL: it is */
	uint64_t forgotten, unnamed; /* code maps, for their size */
	bool jvm_is_new;
	bool agents_busy, not_ready;
	bool agent_failed;
	int outside; /* of alloc_outside_open() */
	bool sampler_is_old;
	int probed;	 /* of alloc_probes_open() */
	int lock_probed; /* of lock_probes_open() */
	int lock_begin_probed;
	uint64_t owner;	   /* of jvm_find_owner(), and of monitors that do not tell */
	int phases_probed; /* of jvm_probes_open(), as jvm_phases_add() has it */
	int parks_seen;	   /* of lock_parks_add() */
	bool parks_added;
	uint64_t parks_polled_ns, phases_polled_ns;
	uint32_t without_locks;
	struct agents_hooks hooks;
	bool try_fails, wants_again, waits_for_jvm, unwinder_busy;
	uint32_t learnt_pid; /* how often its layout was asked for */
	unsigned int learnt;
	unsigned int busy_finishes; /* so often it is busy yet */
	bool disk_is_slow;	    /* what a walk wants is being read */
	const char *thread_name, *kernel_failure, *owner_name;
	const char *early_frame; /* of symbolizer_take_now(); NULL: as in time */
	uint64_t parsed;
	uint64_t start_ns; /* that times are counted from */
	struct unwind_jvm_source jvm_source;
	void (*asked_if_ready)(void);
	/* Of the JVMs' objects: the report, what has gone, and for how many polls there is no answer. */
	struct jvm_live_report live;
	uint64_t gone;
	uint32_t gone_level;
	unsigned int live_polls;
} parts;

static void note(const char *format, ...)
{
	char text[256];
	va_list ap;

	if (parts.quiet)
		return;
	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	strbuf_addf(&parts.log, "%s\n", text);
}

/* What was noted since the last call. */
static const char *noted(void)
{
	static char text[4096];

	snprintf(text, sizeof(text), "%s", strbuf_str(&parts.log));
	strbuf_reset(&parts.log);
	return text;
}

static unsigned int number(uint32_t pid)
{
	return pid - PID_A + 1;
}

#define A_POINTER(type) ((struct type *)0x1000) /* never looked into */

#endif
