/* SPDX-License-Identifier: Apache-2.0 */
/* Files of sysfs as a test has them. Included once per test. */
#ifndef HOSTPROF_TESTS_FAKE_SYSFS_H
#define HOSTPROF_TESTS_FAKE_SYSFS_H

#include "test.h"

#include <errno.h>
#include <string.h>

#include "base/file.h"

struct sysfs_file {
	const char *path; /* below /sys/bus/event_source/devices/ */
	const char *text;
};

/* Ends with a NULL path. */
static const struct sysfs_file *sysfs_files;

int file_read(const char *path, size_t limit, struct strbuf *out)
{
	static const char devices[] = "/sys/bus/event_source/devices/";

	if (strncmp(path, devices, strlen(devices)) != 0)
		fail_msg("%s", path);
	for (const struct sysfs_file *file = sysfs_files; file->path; file++) {
		if (strcmp(file->path, path + strlen(devices)) != 0)
			continue;
		if (strlen(file->text) > limit)
			return -E2BIG;
		strbuf_addstr(out, file->text);
		return 0;
	}
	return -ENOENT;
}

#endif
