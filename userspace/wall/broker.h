/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who carries out what may never come back: a page of another process may be a file's whose server does
 * not answer, and so may a path, and who waits for it cannot even be killed. A broker is a process of
 * its own, with what rights it needs and nothing that anybody would miss; it parses nothing of what it reads.
 */
#ifndef HOSTPROF_WALL_BROKER_H
#define HOSTPROF_WALL_BROKER_H

#include "wall/wall_call.h"

/* Carry out the call, about FD if it is about one: its result, and a descriptor in *RET_FD (-1: none). */
int64_t broker_carry_out(struct wall_call *call, int fd, int *ret_fd);

/*
 * The life of a broker, in a process of its own: calls in the memory file CALL_FD, descriptors to
 * SOCKET. Returns when the call was abandoned, or could not be served at all.
 */
void broker_serve(int call_fd, int socket);

#endif
