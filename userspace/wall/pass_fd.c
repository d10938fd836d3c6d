// SPDX-License-Identifier: Apache-2.0
#include "wall/pass_fd.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

int pass_fds_send(int socket, uint8_t byte, const int *fds, unsigned int count)
{
	char control[CMSG_SPACE(PASS_FD_MAX * sizeof(int))] = { 0 };
	struct iovec part = { &byte, 1 };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = control,
				  .msg_controllen = CMSG_SPACE(count * sizeof(int)) };
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(count * sizeof(int));
	memcpy(CMSG_DATA(header), fds, count * sizeof(int));
	return sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT) < 0 ? -errno : 0;
}

int pass_fds_receive(int socket, int flags, uint8_t *ret_byte, int *ret_fds, unsigned int count)
{
	char control[CMSG_SPACE(PASS_FD_MAX * sizeof(int))];
	struct iovec part = { ret_byte, 1 };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = control,
				  .msg_controllen = CMSG_SPACE(count * sizeof(int)) };
	ssize_t n = recvmsg(socket, &message, flags | MSG_CMSG_CLOEXEC);
	struct cmsghdr *header = n > 0 ? CMSG_FIRSTHDR(&message) : NULL;

	if (n < 0 && errno == EINTR)
		return -EINTR;
	if (!header || header->cmsg_len != CMSG_LEN(count * sizeof(int)))
		return -ENODATA;
	memcpy(ret_fds, CMSG_DATA(header), count * sizeof(int));
	return 0;
}

int pass_fd_receive(int socket)
{
	uint8_t byte;
	int fd, r = pass_fds_receive(socket, MSG_DONTWAIT, &byte, &fd, 1);

	return r < 0 ? -ENODATA : fd;
}

int pass_message_send(int socket, const void *data, size_t len, int fd)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec part = { (void *)(uintptr_t)data, len }; /* NOLINT: it is only read */
	struct msghdr message = { .msg_iov = &part, .msg_iovlen = 1 };
	struct cmsghdr *header;
	ssize_t n;

	if (fd >= 0) {
		message.msg_control = control;
		message.msg_controllen = sizeof(control);
		header = CMSG_FIRSTHDR(&message);
		header->cmsg_level = SOL_SOCKET;
		header->cmsg_type = SCM_RIGHTS;
		header->cmsg_len = CMSG_LEN(sizeof(fd));
		memcpy(CMSG_DATA(header), &fd, sizeof(fd));
	}
	do
		n = sendmsg(socket, &message, MSG_NOSIGNAL);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

ssize_t pass_message_receive(int socket, void *data, size_t size, int *ret_fd)
{
	char control[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec part = { data, size };
	struct msghdr message = { .msg_iov = &part,
				  .msg_iovlen = 1,
				  .msg_control = control,
				  .msg_controllen = sizeof(control) };
	struct cmsghdr *header;
	ssize_t n;

	*ret_fd = -1;
	do
		n = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	header = CMSG_FIRSTHDR(&message);
	if (header && header->cmsg_type == SCM_RIGHTS &&
	    header->cmsg_len == CMSG_LEN(sizeof(*ret_fd)))
		memcpy(ret_fd, CMSG_DATA(header), sizeof(*ret_fd));
	return n;
}
