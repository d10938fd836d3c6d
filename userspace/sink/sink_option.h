/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sink that `record` feeds beside its recording when an option gives it a target. cmd/cmd_record.c has the
 * list.
 */
#ifndef HOSTPROF_SINK_SINK_OPTION_H
#define HOSTPROF_SINK_SINK_OPTION_H

#include "profile/sink.h"

struct sink_option {
	const char *target; /* the option's argument; NULL: not wanted */
	struct sink sink;   /* after open() */
	/* Before anything is recorded. */
	int (*open)(const char *target, struct sink *ret_sink, struct err *err);
	/* Messages for the user, when the recording is whole. SELF is the sink's. */
	void (*tell)(const char *target, const void *self);
	void (*free)(void *self);
};

#endif
