// SPDX-License-Identifier: Apache-2.0
#include "wall/suspects.h"

#include <inttypes.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"

#define FIRST_PAUSE_NS (1 * NSEC_PER_SEC)
#define LAST_PAUSE_NS  (64 * NSEC_PER_SEC)
/* A pid that was not late for so long may be another process. */
#define FORGET_NS (300 * NSEC_PER_SEC)
/* More than so many are not kept: a host on which all are late is not to take our memory. */
#define MAX_SUSPECTS 4096
#define STATUS_LIMIT 4096

struct suspect {
	uint64_t until_ns, pause_ns;
	unsigned int forgiven;
};

static void forget(struct suspects *suspects, uint32_t pid)
{
	free(hmap_find_ptr(&suspects->by_pid, pid));
	hmap_remove(&suspects->by_pid, pid);
}

static void forget_all(struct suspects *suspects)
{
	uint64_t pid, value;
	size_t at = 0;

	while (hmap_next(&suspects->by_pid, &at, &pid, &value))
		free((void *)(uintptr_t)value); /* NOLINT: a pointer that was put there */
	hmap_clear(&suspects->by_pid);
}

void suspects_release(struct suspects *suspects)
{
	forget_all(suspects);
	hmap_release(&suspects->by_pid);
	for (size_t i = 0; i < suspects->lost.len; i++)
		close(suspects->lost.items[i].socket);
	vec_release(&suspects->lost);
}

/* Line Uid: of /proc/PID/status: real, effective, saved, of files. */
uint32_t suspects_user(uint32_t pid)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const char *line;
	char path[32];
	uint32_t uid;

	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/status", pid);
	if (file_read(path, STATUS_LIMIT, &text) < 0)
		return UINT32_MAX;
	line = strstr(strbuf_str(&text), "\nUid:\t");
	if (!line || sscanf(line, "\nUid: %*u %" SCNu32, &uid) != 1) // NOLINT(cert-err34-c)
		return UINT32_MAX;
	return uid;
}

/* Its broker has come back. */
static void forgive(struct suspects *suspects, uint32_t pid)
{
	struct suspect *suspect = hmap_find_ptr(&suspects->by_pid, pid);

	if (!suspect || suspect->forgiven >= SUSPECTS_FORGIVEN)
		return;
	suspect->forgiven++;
	suspect->until_ns -= suspect->pause_ns;
	suspect->pause_ns = 0;
}

/* Those whose broker has come back. */
static void reap(struct suspects *suspects)
{
	for (size_t i = suspects->lost.len; i-- > 0;) {
		struct pollfd fd = { .fd = suspects->lost.items[i].socket };

		if (poll(&fd, 1, 0) <= 0 || !(fd.revents & (POLLHUP | POLLERR)))
			continue;
		close(suspects->lost.items[i].socket);
		forgive(suspects, suspects->lost.items[i].pid);
		vec_remove(&suspects->lost, i, 1);
	}
}

static size_t lost_to(const struct suspects *suspects, uint32_t uid)
{
	size_t count = 0;

	for (size_t i = 0; i < suspects->lost.len; i++)
		count += suspects->lost.items[i].uid == uid;
	return count;
}

static bool is_asked_enough(const struct suspects *suspects, uint32_t pid)
{
	return suspects->lost.len >= SUSPECTS_AT_ALL ||
	       (suspects->lost.len >= SUSPECTS_PER_USER &&
		lost_to(suspects, suspects_user(pid)) >= SUSPECTS_PER_USER);
}

bool suspects_may_ask(struct suspects *suspects, uint32_t pid, uint64_t now_ns)
{
	struct suspect *suspect;

	if (!suspects->late || !pid)
		return true;
	reap(suspects);
	suspect = hmap_find_ptr(&suspects->by_pid, pid);
	if (suspect && now_ns >= suspect->until_ns + FORGET_NS) {
		forget(suspects, pid);
		suspect = NULL;
	}
	if ((suspect && now_ns < suspect->until_ns) || is_asked_enough(suspects, pid)) {
		suspects->refused++;
		return false;
	}
	return true;
}

static void name_first(struct suspects *suspects, uint32_t pid)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	char path[32];

	suspects->first_pid = pid;
	snprintf(path, sizeof(path), "/proc/%" PRIu32 "/comm", pid);
	if (file_read(path, STATUS_LIMIT, &text) == 0)
		snprintf(suspects->first_comm, sizeof(suspects->first_comm), "%.*s",
			 (int)strcspn(strbuf_str(&text), "\n"), strbuf_str(&text));
}

void suspects_note_late(struct suspects *suspects, uint32_t pid, int socket, uint64_t now_ns)
{
	struct suspect *suspect = hmap_find_ptr(&suspects->by_pid, pid);
	struct suspects_lost lost = { socket, suspects_user(pid), pid };

	suspects->late++;
	if (!suspects->first_pid)
		name_first(suspects, pid);
	if (socket >= 0)
		vec_push(&suspects->lost, lost);
	if (!suspect) {
		if (suspects->by_pid.len >= MAX_SUSPECTS)
			forget_all(suspects);
		suspect = xcalloc(1, sizeof(*suspect));
		hmap_put_ptr(&suspects->by_pid, pid, suspect);
	}
	suspect->pause_ns =
		MIN(suspect->pause_ns ? 2 * suspect->pause_ns : FIRST_PAUSE_NS, LAST_PAUSE_NS);
	suspect->until_ns = now_ns + suspect->pause_ns;
}
