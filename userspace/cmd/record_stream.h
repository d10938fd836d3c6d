/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The stream beside a recording. Its target is the number of a descriptor that we have, or a file, which
 * may be a pipe that is to get a reader.
 */
#ifndef HOSTPROF_CMD_RECORD_STREAM_H
#define HOSTPROF_CMD_RECORD_STREAM_H

#include "sink/sink_option.h"

extern struct sink_option record_stream;

#endif
