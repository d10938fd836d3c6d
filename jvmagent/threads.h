/* SPDX-License-Identifier: Apache-2.0 */
/* Names of threads: of new ones as they start, of older ones in a replay. */
#ifndef HOSTPROF_AGENT_THREADS_H
#define HOSTPROF_AGENT_THREADS_H

#include "agent.h"

/* Look up the fields that we read; what a JDK lacks is left out. CLASS is java.lang.Thread. */
void threads_init(struct agent *a, JNIEnv *jni, jclass class);

/* Called on the thread itself, so that gettid() is the thread's. */
void threads_publish_start(struct agent *a, JNIEnv *jni, jthread thread);
void threads_publish_end(struct agent *a, JNIEnv *jni, jthread thread);

/* All platform threads that live. */
void threads_replay(struct agent *a, JNIEnv *jni);

#endif
