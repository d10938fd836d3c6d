/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include <stdarg.h>

#include "base/file.h"
#include "base/strbuf.h"

static const char *const prefixes[] = {
	[LOG_LEVEL_ERROR] = "hostprof: ",
	[LOG_LEVEL_WARN] = "hostprof: warning: ",
	[LOG_LEVEL_INFO] = "hostprof: ",
};

/* One write per message, so that messages of several processes on one terminal stay whole. */
void log_msg(enum log_level level, const char *fmt, ...)
{
	_cleanup_strbuf_ struct strbuf line = STRBUF_INIT;
	va_list ap;

	strbuf_addstr(&line, prefixes[level]);
	va_start(ap, fmt);
	strbuf_vaddf(&line, fmt, ap);
	va_end(ap);
	strbuf_disarm(&line, 0); /* names come from anywhere */
	strbuf_addch(&line, '\n');
	file_write_all(STDERR_FILENO, line.buf, line.len);
}

void log_err(const struct err *err)
{
	if (err->hint[0])
		log_msg(LOG_LEVEL_ERROR, "%s\nhint: %s", err->text, err->hint);
	else
		log_msg(LOG_LEVEL_ERROR, "%s", err->text);
}
