/* SPDX-License-Identifier: Apache-2.0 */
/* One command and its reply over a connection to an attach listener. */
#ifndef HOSTPROF_JVM_ATTACH_ATTACH_EXCHANGE_H
#define HOSTPROF_JVM_ATTACH_ATTACH_EXCHANGE_H

#include <stdint.h>

#include "base/err.h"
#include "base/strbuf.h"

/* share/services/attachListener.hpp: AttachOperation::arg_count_max. */
#define ATTACH_MAX_ARGUMENTS 3

/* Protocol 1: version, command and always three arguments (NULL: empty), each with its NUL. */
int attach_build_request(const char *command, const char *const args[ATTACH_MAX_ARGUMENTS],
			 struct strbuf *out, struct err *err);

/*
 * Send REQUEST over FD (non-blocking), append what comes until the other end closes. -ETIMEDOUT
 * past DEADLINE_NS.
 */
int attach_exchange(int fd, const struct strbuf *request, uint64_t deadline_ns,
		    struct strbuf *reply);

#endif
