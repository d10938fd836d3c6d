/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An error that a person will read: one sentence that says what failed and on what, and, where we
 * know it, a hint that says what to do. Functions that can fail so take a `struct err *` last
 * (never NULL) and return the same negative errno that they stored.
 *
 * Fixed meanings: -EBADMSG malformed input, -ENODATA absent, -E2BIG over our limit,
 * -EOPNOTSUPP kernel or JVM too old, -ESTALE the process changed.
 */
#ifndef HOSTPROF_BASE_ERR_H
#define HOSTPROF_BASE_ERR_H

#include "base/macros.h"

struct err {
	int code;	/* negative errno, 0 when nothing failed */
	char text[384]; /* "cannot open perf event on cpu 3: Permission denied" */
	char hint[384]; /* "run as root, or grant cap_perfmon"; empty when unknown */
};

/* Store code and sentence, clear the hint; returns CODE. A longer sentence is cut. */
int err_set(struct err *err, int code, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* As err_set(), and ": strerror(-code)" is added. */
int err_sys(struct err *err, int code, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* Add a hint to the stored error; returns the stored code. */
int err_hint(struct err *err, const char *fmt, ...) PRINTF_LIKE(2, 3);

#endif
