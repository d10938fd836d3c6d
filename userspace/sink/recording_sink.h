/* SPDX-License-Identifier: Apache-2.0 */
/* The recording as a sink of a run: whole flushes, a chunk for each rotation. */
#ifndef HOSTPROF_SINK_RECORDING_SINK_H
#define HOSTPROF_SINK_RECORDING_SINK_H

#include "profile/sink.h"
#include "recording/recording.h"

/* WRITER is borrowed for as long as the sink is used. */
struct sink recording_sink(struct recording_writer *writer);

#endif
