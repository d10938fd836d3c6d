/* SPDX-License-Identifier: Apache-2.0 */
#include "sink/recording_sink.h"

static int sink_flush(void *self, struct profile *profile, struct err *err)
{
	return recording_writer_flush(self, profile, err);
}

static bool sink_wants_rotation(const void *self, const struct profile *profile)
{
	(void)profile;
	return recording_writer_wants_rotation(self);
}

static int sink_rotate(void *self, struct profile *profile, struct err *err)
{
	return recording_writer_rotate(self, profile, err);
}

static int sink_end(void *self, struct profile *profile, const struct sink_sums *sums,
		    struct err *err)
{
	(void)sums; /* they are among its counters */
	return recording_writer_finish(self, profile, err);
}

struct sink recording_sink(struct recording_writer *writer)
{
	static const struct sink_ops ops = {
		.flush = sink_flush,
		.wants_rotation = sink_wants_rotation,
		.rotate = sink_rotate,
		.end = sink_end,
	};

	return (struct sink){ &ops, writer };
}
