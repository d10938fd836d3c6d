/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors from one process to another, one in a message: unix(7), SCM_RIGHTS. */
#ifndef HOSTPROF_WALL_PASS_FD_H
#define HOSTPROF_WALL_PASS_FD_H

/* 0 or a negative errno; FD stays the sender's. */
int pass_fd_send(int socket, int fd);

/* A descriptor of the receiver's own, or -ENODATA: there is none now. */
int pass_fd_receive(int socket);

#endif
