// SPDX-License-Identifier: Apache-2.0
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/macros.h"
#include "wall/wall.h"

struct fixture {
	char dir[64];
	char path[96]; /* where a test puts what is to be opened */
	char file[96]; /* a regular file */
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	_cleanup_close_ int fd = -1;

	*state = f;
	strcpy(f->dir, "/tmp/hostprof-foreign-XXXXXX");
	if (!mkdtemp(f->dir))
		return -1;
	snprintf(f->path, sizeof(f->path), "%s/path", f->dir);
	snprintf(f->file, sizeof(f->file), "%s/file", f->dir);
	fd = open(f->file, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	return fd < 0 ? -1 : file_write_all(fd, "text", 4);
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	unlink(f->path);
	unlink(f->file);
	rmdir(f->path);
	rmdir(f->dir);
	free(f);
	return 0;
}

/* Both ways find the same; WANTED is a negative errno, or 0 for the four letters of the fixture. */
static void assert_opens(const char *path, int wanted)
{
	for (int way = 0; way < 3; way++) {
		uint32_t pid = way == 1 ? 0 : (uint32_t)getpid();
		_cleanup_close_ int fd =
			way == 0 ? wall_open(0, path) : wall_open_in_root(pid, path, 0);
		char text[5] = "";

		assert_int_equal(MIN(fd, 0), wanted);
		if (fd < 0)
			continue;
		assert_int_equal(read(fd, text, 4), 4);
		assert_string_equal(text, "text");
		assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
		assert_int_equal(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	}
}

static void a_regular_file(void **state)
{
	struct fixture *f = *state;

	assert_opens(f->file, 0);
	assert_opens(f->path, -ENOENT);
}

static void links_are_followed_unless_asked(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(symlink(f->file, f->path), 0);
	assert_opens(f->path, 0);
	assert_int_equal(wall_open_in_root(0, f->path, O_NOFOLLOW), -EINVAL);
}

static void what_the_kernel_makes_up(void **state)
{
	static const char *const targets[] = { "/proc/kmsg", "/proc/self/maps", "/proc/version",
					       "/sys/kernel/notes", "/sys/kernel/uevent_seqnum" };
	struct fixture *f = *state;

	for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
		if (access(targets[i], F_OK) < 0)
			continue;
		assert_opens(targets[i], -EINVAL);
		assert_int_equal(symlink(targets[i], f->path), 0);
		assert_opens(f->path, -EINVAL);
		unlink(f->path);
	}
}

static void the_kernels_own_links(void **state)
{
	struct fixture *f = *state;
	_cleanup_close_ int held = open(f->file, O_RDONLY | O_CLOEXEC), by_link = -1;
	char link[64];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", held);
	by_link = wall_open(0, link);
	assert_true(by_link >= 0);
	assert_int_equal(wall_open_in_root(0, link, 0), -ELOOP);
}

static void devices_pipes_directories_and_sockets(void **state)
{
	struct fixture *f = *state;
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	_cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_opens("/dev/zero", -EINVAL);
	assert_opens(f->dir, -EINVAL);
	assert_int_equal(mkfifo(f->path, 0644), 0);
	assert_opens(f->path, -EINVAL);
	unlink(f->path);
	strcpy(address.sun_path, f->path);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_opens(f->path, -EINVAL);
}

/* Whoever owns a file can make others wait when they open it. */
static void a_lease_holds_nobody_up(void **state)
{
	struct fixture *f = *state;
	_cleanup_close_ int fd = open(f->file, O_RDWR | O_CLOEXEC);
	uint64_t before = clock_now_ns();

	signal(SIGIO, SIG_IGN);
	if (fcntl(fd, F_SETLEASE, F_WRLCK) < 0)
		skip(); /* this file system has none */
	assert_opens(f->file, -EWOULDBLOCK);
	assert_true(clock_now_ns() - before < 10 * NSEC_PER_SEC);
	assert_int_equal(fcntl(fd, F_SETLEASE, F_UNLCK), 0);
	assert_opens(f->file, 0);
}

static void a_process_that_is_gone(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(wall_open_in_root(0x7ffffffe, f->file, 0), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_regular_file, setup, teardown),
		cmocka_unit_test_setup_teardown(links_are_followed_unless_asked, setup, teardown),
		cmocka_unit_test_setup_teardown(what_the_kernel_makes_up, setup, teardown),
		cmocka_unit_test_setup_teardown(the_kernels_own_links, setup, teardown),
		cmocka_unit_test_setup_teardown(devices_pipes_directories_and_sockets, setup,
						teardown),
		cmocka_unit_test_setup_teardown(a_lease_holds_nobody_up, setup, teardown),
		cmocka_unit_test_setup_teardown(a_process_that_is_gone, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
