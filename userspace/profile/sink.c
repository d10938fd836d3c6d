/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/sink.h"

#include <assert.h>

void sinks_add(struct sinks *sinks, struct sink sink)
{
	assert(sinks->count < SINKS_MAX);
	sinks->items[sinks->count++] = sink;
	sinks->hurry |= sink.ops->arrived != NULL;
	sinks->one_by_one |= sink.ops->finished != NULL;
}

/* Call OP of all that have it. */
#define CALL_EACH(sinks, op, ...)                                         \
	do {                                                              \
		for (unsigned int i = 0; i < (sinks)->count; i++) {       \
			const struct sink *sink = &(sinks)->items[i];     \
                                                                          \
			if (sink->ops->op)                                \
				sink->ops->op(sink->self, ##__VA_ARGS__); \
		}                                                         \
	} while (0)

/* The same, up to the first that fails, whose error is returned. */
#define TRY_EACH(sinks, op, ...)                                                            \
	do {                                                                                \
		for (unsigned int i = 0; i < (sinks)->count; i++) {                         \
			const struct sink *sink = &(sinks)->items[i];                       \
			int r = sink->ops->op ? sink->ops->op(sink->self, __VA_ARGS__) : 0; \
                                                                                            \
			if (r < 0)                                                          \
				return r;                                                   \
		}                                                                           \
		return 0;                                                                   \
	} while (0)

int sinks_begin(const struct sinks *sinks, const struct profile *profile, bool whole_host,
		struct err *err)
{
	TRY_EACH(sinks, begin, profile, whole_host, err);
}

void sinks_arrived(const struct sinks *sinks, const struct profile *profile,
		   const struct sink_sample *sample)
{
	CALL_EACH(sinks, arrived, profile, sample);
}

void sinks_finished(const struct sinks *sinks, const struct profile *profile,
		    const struct sink_sample *sample, enum sink_finish finish)
{
	CALL_EACH(sinks, finished, profile, sample, finish);
}

void sinks_ending(const struct sinks *sinks)
{
	CALL_EACH(sinks, ending);
}

void sinks_process(const struct sinks *sinks, const struct sink_process_event *event)
{
	CALL_EACH(sinks, process, event);
}

void sinks_lost(const struct sinks *sinks, const struct sink_loss *loss)
{
	CALL_EACH(sinks, lost, loss);
}

int sinks_turn(const struct sinks *sinks, struct err *err)
{
	TRY_EACH(sinks, turn, err);
}

int sinks_flush(const struct sinks *sinks, struct profile *profile, struct err *err)
{
	TRY_EACH(sinks, flush, profile, err);
}

bool sinks_want_rotation(const struct sinks *sinks, const struct profile *profile)
{
	for (unsigned int i = 0; i < sinks->count; i++) {
		const struct sink *sink = &sinks->items[i];

		if (sink->ops->wants_rotation && sink->ops->wants_rotation(sink->self, profile))
			return true;
	}
	return false;
}

int sinks_rotate(const struct sinks *sinks, struct profile *profile, struct err *err)
{
	TRY_EACH(sinks, rotate, profile, err);
}

int sinks_end(const struct sinks *sinks, struct profile *profile, const struct sink_sums *sums,
	      struct err *err)
{
	TRY_EACH(sinks, end, profile, sums, err);
}
