/* SPDX-License-Identifier: Apache-2.0 */
#include "session/offcpu/wakers.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "profile/profile_copy.h"
#include "session/offcpu/span_key.h"

struct waker_entry {
	struct profile_waker waker;
	uint64_t time_ns;
};

static struct waker_entry *entry_of(uint64_t value)
{
	return (struct waker_entry *)(uintptr_t)value;
}

void wakers_release(struct wakers *wakers)
{
	uint64_t key, value;
	size_t at = 0;

	while (hmap_next(&wakers->waiting, &at, &key, &value))
		free(entry_of(value));
	hmap_release(&wakers->waiting);
}

static struct waker_entry *take(struct wakers *wakers, uint64_t key)
{
	struct waker_entry *entry = hmap_find_ptr(&wakers->waiting, key);

	if (entry)
		hmap_remove(&wakers->waiting, key);
	return entry;
}

void wakers_put(struct wakers *wakers, uint32_t tid, uint64_t out_ns,
		const struct profile_waker *waker, uint64_t now_ns)
{
	struct waker_entry *entry = xmalloc(sizeof(*entry));
	uint64_t key = span_key(tid, out_ns);

	*entry = (struct waker_entry){ *waker, now_ns };
	free(take(wakers, key));
	hmap_put_ptr(&wakers->waiting, key, entry);
}

uint32_t wakers_take(struct wakers *wakers, uint32_t tid, uint64_t out_ns, struct profile *profile)
{
	_cleanup_free_ struct waker_entry *entry = take(wakers, span_key(tid, out_ns));

	return entry ? profile_waker(profile, &entry->waker) : 0;
}

void wakers_drop(struct wakers *wakers, uint32_t tid, uint64_t out_ns)
{
	free(take(wakers, span_key(tid, out_ns)));
}

void wakers_expire(struct wakers *wakers, uint64_t before_ns)
{
	uint64_t key, value;
	size_t at = 0;

	while (hmap_next(&wakers->waiting, &at, &key, &value))
		if (entry_of(value)->time_ns < before_ns)
			free(take(wakers, key));
}

void wakers_move(struct wakers *wakers, const struct profile *from, struct profile *to)
{
	uint64_t key, value;
	size_t at = 0;

	while (hmap_next(&wakers->waiting, &at, &key, &value)) {
		struct profile_waker *waker = &entry_of(value)->waker;

		waker->stack = profile_copy_stack(to, from, waker->stack);
		if (waker->thread != PROFILE_NONE)
			waker->thread = profile_copy_thread(to, from, waker->thread);
	}
}
