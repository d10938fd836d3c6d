/* SPDX-License-Identifier: Apache-2.0 */
#include "session/offcpu/spans.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "session/offcpu/span_key.h"

static uint64_t bytes_of(const struct span_wait *wait)
{
	return (wait->sample ? wait->sample->size : 0) + (wait->miss ? wait->miss->size : 0);
}

void span_wait_free(struct span_wait *wait)
{
	if (!wait)
		return;
	free(wait->sample);
	free(wait->miss);
	free(wait);
}

void spans_release(struct spans *spans)
{
	uint64_t key, value;
	size_t at = 0;

	while (hmap_next(&spans->waits, &at, &key, &value))
		span_wait_free((struct span_wait *)(uintptr_t)value);
	hmap_release(&spans->waits);
}

static struct span_wait *take(struct spans *spans, uint64_t key)
{
	struct span_wait *wait = hmap_find_ptr(&spans->waits, key);

	if (!wait)
		return NULL;
	hmap_remove(&spans->waits, key);
	spans->bytes -= bytes_of(wait);
	spans->lonely -= !wait->sample;
	return wait;
}

/* The half of the other kind; one of the same is told of again, and forgotten. */
static struct span_wait *take_other(struct spans *spans, uint64_t key, bool wants_sample)
{
	struct span_wait *wait = take(spans, key);

	if (wait && (wait->sample != NULL) != wants_sample)
		span_wait_free(TAKE_PTR(wait));
	return wait;
}

static void put(struct spans *spans, uint64_t key, struct span_wait *wait)
{
	span_wait_free(take(spans, key));
	spans->bytes += bytes_of(wait);
	if (!wait->sample && (!spans->lonely++ || wait->since_ns < spans->lonely_since_ns))
		spans->lonely_since_ns = wait->since_ns;
	hmap_put_ptr(&spans->waits, key, wait);
}

/* The time that it stands for is not lost: its stack says that it is none. */
static void cut(struct spans *spans, struct span_wait *wait)
{
	struct wire_sample *sample = wait->sample;

	free(TAKE_PTR(wait->miss));
	sample->kernel_frames = sample->user_words = sample->user_frames = 0;
	sample->size = sizeof(*sample);
	sample->reason = UNWIND_BUDGET;
	wait->sample = xmemdup(sample, sizeof(*sample));
	free(sample);
	spans->cut++;
}

struct span_wait *spans_open(struct spans *spans, struct wire_sample *sample,
			     struct wire_miss *miss, uint64_t now_ns)
{
	uint64_t key = span_key(sample->tid, sample->time_ns);
	struct span_wait *wait = take_other(spans, key, false);
	bool is_closed = wait != NULL;

	if (!wait)
		wait = xcalloc(1, sizeof(*wait));
	wait->sample = sample;
	wait->miss = miss;
	wait->since_ns = now_ns;
	if (is_closed)
		return wait;
	if (spans->bytes + bytes_of(wait) > spans->limit_bytes)
		cut(spans, wait);
	put(spans, key, wait);
	return NULL;
}

struct span_wait *spans_close(struct spans *spans, const struct wire_span *span, uint64_t now_ns)
{
	uint64_t key = span_key(span->tid, span->time_ns);
	struct span_wait *wait = take_other(spans, key, true);

	if (wait) {
		wait->is_woken = true;
		wait->span = *span;
		return wait;
	}
	wait = xcalloc(1, sizeof(*wait));
	*wait = (struct span_wait){ .is_woken = true, .span = *span, .since_ns = now_ns };
	put(spans, key, wait);
	return NULL;
}

struct span_wait *spans_take_open(struct spans *spans, size_t *at)
{
	uint64_t key, value;

	while (hmap_next(&spans->waits, at, &key, &value))
		if (((struct span_wait *)(uintptr_t)value)->sample)
			return take(spans, key);
	return NULL;
}

/* There may be thousands of others: they are looked at only when one of these is as old as that. */
void spans_expire(struct spans *spans, uint64_t before_ns)
{
	uint64_t key, value, oldest_ns = UINT64_MAX;
	size_t at = 0;

	if (!spans->lonely || spans->lonely_since_ns >= before_ns)
		return;
	while (hmap_next(&spans->waits, &at, &key, &value)) {
		const struct span_wait *wait = (struct span_wait *)(uintptr_t)value;

		if (wait->sample)
			continue;
		if (wait->since_ns < before_ns)
			span_wait_free(take(spans, key));
		else
			oldest_ns = MIN(oldest_ns, wait->since_ns);
	}
	spans->lonely_since_ns = oldest_ns;
}
