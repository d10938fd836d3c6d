// SPDX-License-Identifier: Apache-2.0
/*
 * usage: unanswering DIRECTORY UID [COMMAND…]
 * A process whose memory nobody can read: it maps a file of user UID's file system (FUSE), which says nothing when it is
 * read, above a stack of its own, and spins with a frame there. Who reads that page waits until the program is killed,
 * and cannot be killed before. Prints "ready" when it spins; exits with 77 where no file system can be mounted.
 * With a command, it becomes that, and in its DIRECTORY nothing can be opened, found or made, but that the first name that is
 * looked for is not there: a JVM that starts asks whether another one has left its socket.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "fuse_answers.h"

#define CANNOT	    77
#define STACK_BYTES (128 << 10)
/* Below all else, so that nothing says where it ends. */
#define STACK_AT      0x10000000UL
#define REQUEST_BYTES (FUSE_MIN_READ_BUFFER + FUSE_PAGE)

static bool is_mute;

static void answer_one(const struct fuse_in_header *in)
{
	static int lookups;

	if (is_mute && in->opcode == FUSE_LOOKUP && !lookups++)
		fuse_answer(in->unique, -ENOENT, "", 0);
	if (is_mute && in->opcode != FUSE_INIT && in->opcode != FUSE_GETATTR)
		return;
	/* What is read comes never. */
	if (!fuse_answer_common(in, 16 * FUSE_PAGE, FOPEN_KEEP_CACHE) && in->opcode != FUSE_READ)
		fuse_answer(in->unique, -ENOSYS, "", 0);
}

/*
 * In a process of its own, so that nobody who waits has the device open: with it the file system ends, and
 * they come back.
 */
static void serve(void)
{
	static char request[REQUEST_BYTES];
	const struct fuse_in_header *in = (const void *)request;

	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	while (read(fuse_device, request, sizeof(request)) >= (ssize_t)sizeof(*in))
		answer_one(in);
	_exit(0);
}

static int mount_here(const char *directory, uid_t id)
{
	if (fuse_mount("unanswering", directory, id) < 0)
		return -1;
	return setresgid(id, id, id) < 0 ? -1 : setresuid(id, id, id);
}

/*
 * By its call frame information the caller's frame is where %rbp points: three quarters up the stack, from there in the file's mapping
 * above it, farther up than any copy of the stack reaches.
 */
__attribute__((noinline, optimize("no-omit-frame-pointer"))) static void spin(char *stack,
									      char *mapping)
{
	char **frame = (char **)(void *)(stack + STACK_BYTES / 4 * 3);

	frame[0] = mapping + 256;
	printf("ready\n");
	fflush(stdout);
	__asm__ volatile("lea 1f(%%rip), %%rax\n\t"
			 "mov %%rax, 8(%0)\n\t"
			 "mov %0, %%rbp\n\t"
			 "mov %1, %%rsp\n"
			 "1:\tjmp 1b"
			 :
			 : "r"(frame), "r"(stack)
			 : "rax", "memory");
}

int main(int argc, char **argv)
{
	char path[4096], *stack, *mapping;
	int fd;

	is_mute = argc > 3;
	if (argc < 3 || mount_here(argv[1], (uid_t)strtoul(argv[2], NULL, 10)) < 0)
		return CANNOT;
	if (fork() == 0)
		serve();
	close(fuse_device);
	if (is_mute) {
		execv(argv[3], argv + 3);
		return 1;
	}
	snprintf(path, sizeof(path), "%s/file", argv[1]);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	stack = mmap((void *)STACK_AT, STACK_BYTES + 16 * FUSE_PAGE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	mapping = mmap(stack + STACK_BYTES, 16 * FUSE_PAGE, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd,
		       0);
	if (fd < 0 || stack == MAP_FAILED || mapping == MAP_FAILED)
		return 1;
	spin(stack, mapping);
	return 0;
}
