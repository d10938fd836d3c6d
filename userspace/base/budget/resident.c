// SPDX-License-Identifier: Apache-2.0
#include "base/budget/resident.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/macros.h"
#include "base/text/text_cursor.h"

/* Seven numbers; shared are pages of files and of shared memory. */
#define STATM_BYTES 256

static const struct resident nothing = { 0, 0, 0 };

static int open_statm(uint32_t pid)
{
	char path[32] = "/proc/self/statm";

	if (pid)
		snprintf(path, sizeof(path), "/proc/%u/statm", pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

/* Documentation/filesystems/proc.rst, statm: size, resident, … in pages. False: there is no such process any more. */
static bool read_statm(int fd, struct resident *ret_resident)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	char text[STATM_BYTES];
	ssize_t n = pread(fd, text, sizeof(text), 0);
	struct text_cursor cursor = { text, text + MAX(n, 0) };
	uint64_t size, resident, shared;

	*ret_resident = nothing;
	if (text_take_number(&cursor, 10, &size) && text_take_char(&cursor, ' ') &&
	    text_take_number(&cursor, 10, &resident) && text_take_char(&cursor, ' ') &&
	    text_take_number(&cursor, 10, &shared))
		*ret_resident = (struct resident){ size * page, resident * page,
						   (resident - MIN(shared, resident)) * page };
	return n >= 0;
}

struct resident resident_read(uint32_t pid)
{
	struct resident_watch watch = { .is_open = false };
	struct resident resident = resident_watch_read(&watch, pid);

	resident_watch_release(&watch);
	return resident;
}

/* --- again and again -------------------------------------------------------------------------- */

void resident_watch_release(struct resident_watch *watch)
{
	if (watch->is_open)
		close(watch->fd);
	watch->is_open = false;
}

struct resident resident_watch_read(struct resident_watch *watch, uint32_t pid)
{
	struct resident resident = nothing;

	if (watch->is_open && watch->pid == pid && read_statm(watch->fd, &resident))
		return resident;
	resident_watch_release(watch);
	watch->fd = open_statm(pid);
	watch->pid = pid;
	watch->is_open = watch->fd >= 0;
	if (watch->is_open)
		read_statm(watch->fd, &resident);
	return resident;
}
