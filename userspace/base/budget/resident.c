// SPDX-License-Identifier: Apache-2.0
#include "base/budget/resident.h"

#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "base/macros.h"
#include "base/text/text_cursor.h"

/* Seven numbers; shared are pages of files and of shared memory. */
#define STATM_BYTES 4096

/* Documentation/filesystems/proc.rst, statm: size, resident, … in pages. */
struct resident resident_read(uint32_t pid)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	char path[32] = "/proc/self/statm";
	struct text_cursor cursor;
	uint64_t size, resident, shared;

	if (pid)
		snprintf(path, sizeof(path), "/proc/%u/statm", pid);
	if (file_read(path, STATM_BYTES, &text) < 0)
		return (struct resident){ 0, 0, 0 };
	cursor = (struct text_cursor){ strbuf_str(&text), strbuf_str(&text) + text.len };
	if (!text_take_number(&cursor, 10, &size) || !text_take_char(&cursor, ' ') ||
	    !text_take_number(&cursor, 10, &resident) || !text_take_char(&cursor, ' ') ||
	    !text_take_number(&cursor, 10, &shared))
		return (struct resident){ 0, 0, 0 };
	return (struct resident){ size * page, resident * page,
				  (resident - MIN(shared, resident)) * page };
}
