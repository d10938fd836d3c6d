/* SPDX-License-Identifier: Apache-2.0 */
/* What is shown beside code that runs, where somebody wants it; and how threads find themselves. */
#include <errno.h>

#include "base/clock.h"
#include "jvm/jvm_private.h"
#include "jvm/shown/jvm_compiling.h"
#include "jvm/shown/jvm_own_thread.h"
#include "jvm/shown/jvm_receiver.h"

/* A JVM that starts has few threads; one whose C library keeps them elsewhere is asked in vain. */
#define SHOWN_WAIT_NS	  (20 * NSEC_PER_MSEC)
#define SHOWN_MAX_WAIT_NS (10 * NSEC_PER_SEC)
/* To list threads; of 2,000 it takes a millisecond. */
#define LIST_NS (10 * NSEC_PER_MSEC)

/* Beside what is wanted: how a thread finds itself, for walks that userspace finishes. */
#define KNOWS_OWN_THREAD (1U << 31)

static bool is_final(int r)
{
	return !r || r == -EOPNOTSUPP;
}

static void look_for(struct jvm *jvm, uint64_t now_ns)
{
	struct jvm_shown *shown = &jvm->shown;
	uint32_t missing = (shown->wanted | KNOWS_OWN_THREAD) & ~shown->known;

	/* One that starts has few threads, and its first frames want to be named. */
	if (missing & KNOWS_OWN_THREAD && !jvm->layout.provisional &&
	    is_final(jvm_own_thread_read(jvm->vs, now_ns + LIST_NS, &shown->own)))
		shown->known |= KNOWS_OWN_THREAD;
	if (missing & JVM_SHOWS_RECEIVERS &&
	    is_final(jvm_receiver_read(jvm->vs, &jvm->layout, &shown->receiver)))
		shown->known |= JVM_SHOWS_RECEIVERS;
	if (missing & JVM_SHOWS_COMPILING && shown->known & KNOWS_OWN_THREAD &&
	    is_final(jvm_compiling_read(jvm->vs, &shown->compiling)))
		shown->known |= JVM_SHOWS_COMPILING;
	shown->wait_ns =
		shown->wait_ns ? MIN(2 * shown->wait_ns, SHOWN_MAX_WAIT_NS) : SHOWN_WAIT_NS;
	shown->retry_ns = now_ns + shown->wait_ns;
}

void jvm_shown_fill(struct jvm *jvm, struct wire_jvm *wire)
{
	struct jvm_shown *shown = &jvm->shown;
	uint64_t now_ns = clock_now_ns();

	if ((shown->wanted | KNOWS_OWN_THREAD) & ~shown->known && now_ns >= shown->retry_ns)
		look_for(jvm, now_ns);
	wire->receiver = shown->receiver;
	wire->own = shown->own;
	wire->compiling = shown->compiling;
}

const char *jvm_receiver_class(struct jvm *jvm, const uint64_t words[WIRE_RECEIVER_WORDS])
{
	uint64_t begin_ns = clock_now_ns();
	const char *name;
	int r;

	if (!jvm_has_layout(jvm) || !name_time_is_left(&jvm->name_time, begin_ns))
		return NULL;
	r = klass_names_find_proven(jvm->klasses, words[1], words[2], &name);
	name_time_take(&jvm->name_time, clock_now_ns() - begin_ns);
	return r < 0 ? NULL : name;
}
