/* SPDX-License-Identifier: Apache-2.0 */
/* Messages for people, on stderr. Only cmd/, service/ and main.c use warn and info. */
#ifndef HOSTPROF_BASE_LOG_H
#define HOSTPROF_BASE_LOG_H

#include "base/err.h"

enum log_level { LOG_LEVEL_ERROR, LOG_LEVEL_WARN, LOG_LEVEL_INFO };

/* One line; control characters in it become '?'. */
void log_msg(enum log_level level, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* "hostprof: TEXT", and below it "hint: HINT" when there is one. */
void log_err(const struct err *err);

#define log_warn(...) log_msg(LOG_LEVEL_WARN, __VA_ARGS__)
#define log_info(...) log_msg(LOG_LEVEL_INFO, __VA_ARGS__)

#endif
