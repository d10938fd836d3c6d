/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors from one process to another, with a byte beside them: unix(7), SCM_RIGHTS. */
#ifndef HOSTPROF_WALL_PASS_FD_H
#define HOSTPROF_WALL_PASS_FD_H

#include <stdint.h>
#include <sys/types.h>

/* In one message. */
#define PASS_FD_MAX 2

/* Never blocks. 0 or a negative errno; the descriptors stay the sender's. */
int pass_fds_send(int socket, uint8_t byte, const int *fds, unsigned int count);

/* FLAGS: of recvmsg(2). COUNT descriptors of the receiver's own; -ENODATA: there is no such message. */
int pass_fds_receive(int socket, int flags, uint8_t *ret_byte, int *ret_fds, unsigned int count);

/* One that came, or -ENODATA: there is none now. */
int pass_fd_receive(int socket);

/* A message of up to SIZE bytes and a descriptor beside it, or -1 for none. Bytes, or a negative errno. */
ssize_t pass_message_receive(int socket, void *data, size_t size, int *ret_fd);
/* FD: -1 for none. Waits for room. */
int pass_message_send(int socket, const void *data, size_t len, int fd);

#endif
