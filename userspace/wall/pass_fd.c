// SPDX-License-Identifier: Apache-2.0
#include "wall/pass_fd.h"

#include <errno.h>
#include <sys/socket.h>

int pass_fd_send(int socket, int fd)
{
	char byte = 0, control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec part = { &byte, 1 };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = control,
				  .msg_controllen = sizeof(control) };
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	*(int *)(void *)CMSG_DATA(header) = fd;
	return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

int pass_fd_receive(int socket)
{
	char byte, control[CMSG_SPACE(sizeof(int))];
	struct iovec part = { &byte, 1 };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = control,
				  .msg_controllen = sizeof(control) };
	ssize_t n = recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	struct cmsghdr *header = n > 0 ? CMSG_FIRSTHDR(&message) : 0;

	return header ? *(int *)(void *)CMSG_DATA(header) : -ENODATA;
}
