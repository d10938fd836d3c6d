/* SPDX-License-Identifier: Apache-2.0 */
/* A perf map of a text. */
#ifndef HOSTPROF_TESTS_PERF_TEXT_H
#define HOSTPROF_TESTS_PERF_TEXT_H

#include <sys/mman.h>

#include "base/file.h"
#include "symbolize/perf_map.h"

static inline struct perf_map *perf_map_of_text(const char *text, size_t len)
{
	int fd = memfd_create("perf map", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(file_write_all(fd, text, len), 0);
	return perf_map_of(fd, 0);
}

#endif
