/* SPDX-License-Identifier: Apache-2.0 */
/* What JVMs have told of themselves: waits for locks, safepoints, compilations, loaded classes. Others' events of these types are no samples. */
#ifndef HOSTPROF_RECORDING_SAMPLES_READ_JVM_H
#define HOSTPROF_RECORDING_SAMPLES_READ_JVM_H

#include "recording/samples/read_sample.h"

jfr_add_fn jfr_add_enter, jfr_add_monitor_wait, jfr_add_park;
/* The operation's name is in the reason. */
jfr_add_fn jfr_add_safepoint;
jfr_add_fn jfr_add_compilation;
jfr_add_fn jfr_add_class_load;
/* The cause is in the reason. */
jfr_add_fn jfr_add_pause;

#endif
