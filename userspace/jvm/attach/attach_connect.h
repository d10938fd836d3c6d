/* SPDX-License-Identifier: Apache-2.0 */
/* Opening the connection to a JVM's attach listener, waking the listener when it sleeps. */
#ifndef HOSTPROF_JVM_ATTACH_ATTACH_CONNECT_H
#define HOSTPROF_JVM_ATTACH_ATTACH_CONNECT_H

#include <stdint.h>

#include "base/err.h"
#include "jvm/attach/attach_target.h"

/*
 * The connected socket, non-blocking. The caller has made sure that the JVM takes SIGQUIT as what
 * it is meant to be (attach_check()). -ETIMEDOUT when nobody listens before DEADLINE_NS.
 */
int attach_connect(const struct attach_target *target, uint64_t deadline_ns, int *ret_fd,
		   struct err *err);

/* Is there a socket, or a place for the file that asks for one? It is looked at; nothing is made, nobody is asked. */
int attach_connect_check(const struct attach_target *target, uint64_t deadline_ns, struct err *err);

#endif
