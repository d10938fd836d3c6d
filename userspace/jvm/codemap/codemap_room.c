// SPDX-License-Identifier: Apache-2.0
#include "jvm/codemap/codemap_room.h"

#include <errno.h>
#include <sys/stat.h>

#include "process/memory_room.h"

/* The ring is half of it; tables, a thread and pages of the library are the rest. */
#define AGENT_ROOM_MB 8ULL

int codemap_check_room(uint32_t pid, struct err *err)
{
	uint64_t room_mb = memory_room_of(pid) >> 20;

	if (room_mb >= AGENT_ROOM_MB)
		return 0;
	err_set(err, -EAGAIN,
		"the JVM %u has %llu MB left of its memory cgroup; the agent needs %llu MB", pid,
		(unsigned long long)room_mb, AGENT_ROOM_MB);
	return err_hint(err, "raise the limit of its container, or make its heap smaller");
}

int codemap_check_room_fd(uint32_t pid, int fd, struct err *err)
{
	struct stat st;

	/* What it took at its first recording it keeps for the next ones. */
	if (fstat(fd, &st) || st.st_blocks * 512LL >= st.st_size)
		return 0;
	return codemap_check_room(pid, err);
}
