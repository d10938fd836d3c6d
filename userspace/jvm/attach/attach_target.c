/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/attach/attach_target.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/openat2.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "base/file.h"
#include "process/proc.h"

static bool sets_handler(uint64_t mask, int signal)
{
	return mask >> (signal - 1) & 1;
}

void attach_socket_name(const struct attach_target *target, char ret_name[ATTACH_NAME_BYTES])
{
	snprintf(ret_name, ATTACH_NAME_BYTES, ".java_pid%u", target->ns_pid);
}

void attach_trigger_name(const struct attach_target *target, char ret_name[ATTACH_NAME_BYTES])
{
	snprintf(ret_name, ATTACH_NAME_BYTES, ".attach_pid%u", target->ns_pid);
}

int attach_target_open_path(const struct attach_target *target, const char *path, int flags)
{
	struct open_how how = {
		.flags = (uint64_t)(unsigned int)(flags | O_CLOEXEC),
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	long fd = syscall(SYS_openat2, target->root_fd, path, &how, sizeof(how));

	return fd < 0 ? -errno : (int)fd;
}

static int open_proc_dir(uint32_t pid, const char *name)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/proc/%u/%s", pid, name);
	fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* A paused container: signals wait, and what they meant is forgotten when it goes on. */
static bool is_frozen(uint32_t pid)
{
	_cleanup_strbuf_ struct strbuf events = STRBUF_INIT;
	_cleanup_free_ char *cgroup = NULL;
	char path[PATH_MAX];

	if (proc_read_cgroup(pid, &cgroup) < 0)
		return false;
	snprintf(path, sizeof(path), "/sys/fs/cgroup%s/cgroup.events", cgroup);
	return file_read(path, 4096, &events) == 0 &&
	       strstr(strbuf_str(&events), "frozen 1") != NULL;
}

static int check_alive(uint32_t pid, struct err *err)
{
	struct proc_stat stat;
	int r = proc_read_stat(pid, &stat);

	if (r < 0 || stat.state == 'Z' || stat.state == 'X')
		return err_set(err, -ESRCH, "there is no process %u", pid);
	if (is_frozen(pid))
		return err_set(err, -EAGAIN, "process %u is frozen (its container is paused)", pid);
	if (stat.state != 'T' && stat.state != 't')
		return 0;
	err_set(err, -EAGAIN, "process %u is stopped%s, so its JVM cannot answer", pid,
		stat.state == 't' ? " by a debugger" : "");
	return err_hint(err, "kill -CONT %u lets it run again", pid);
}

static int check_user(const struct attach_target *target, struct err *err)
{
	if (geteuid() == 0 || geteuid() == target->uid)
		return 0;
	err_set(err, -EPERM, "process %u belongs to user %u, not to us", target->pid, target->uid);
	return err_hint(err, "run as root or as that user");
}

static int open_dirs(struct attach_target *target, struct err *err)
{
	target->root_fd = open_proc_dir(target->pid, "root");
	if (target->root_fd < 0) {
		err_sys(err, target->root_fd == -EACCES ? -EPERM : target->root_fd,
			"cannot enter the file system of process %u", target->pid);
		return err_hint(err, "run as root");
	}
	target->tmp_fd = attach_target_open_path(target, "/tmp", O_PATH | O_DIRECTORY);
	if (target->tmp_fd < 0)
		return err_sys(err, target->tmp_fd, "cannot open /tmp of process %u", target->pid);
	/* Only the second choice for one file. */
	target->cwd_fd = open_proc_dir(target->pid, "cwd");
	return 0;
}

int attach_target_open(uint32_t pid, struct attach_target *ret_target, struct err *err)
{
	_cleanup_(attach_target_close) struct attach_target target = ATTACH_TARGET_INIT;
	struct proc_status status;
	int r;

	target.pid = pid;
	target.pidfd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
	if (target.pidfd < 0 || proc_read_status(pid, &status) < 0)
		return err_set(err, -ESRCH, "there is no process %u", pid);
	target.ns_pid = status.ns_pid;
	target.uid = status.uid;
	target.gid = status.gid;
	target.catches_quit = sets_handler(status.sig_caught, SIGQUIT);
	target.is_copy = status.threads == 1;
	r = check_alive(pid, err);
	if (!r)
		r = check_user(&target, err);
	if (r < 0)
		return r;
	*ret_target = target;
	target = (struct attach_target)ATTACH_TARGET_INIT;
	return 0;
}

static bool has_ended(const struct attach_target *target)
{
	struct pollfd fd = { .fd = target->pidfd, .events = POLLIN };

	return poll(&fd, 1, 0) > 0;
}

int attach_target_enter(struct attach_target *target, struct err *err)
{
	int r = open_dirs(target, err);

	/* What was opened may be of another process that has the pid now. */
	if (r < 0 || !has_ended(target))
		return r;
	return err_set(err, -ESRCH, "there is no process %u", target->pid);
}

bool attach_target_catches_quit(const struct attach_target *target)
{
	struct proc_status status;

	/* It cannot be read when the process has gone; then no signal is sent, either. */
	return proc_read_status(target->pid, &status) < 0 ||
	       sets_handler(status.sig_caught, SIGQUIT);
}

void attach_target_close(struct attach_target *target)
{
	closep(&target->pidfd);
	closep(&target->root_fd);
	closep(&target->tmp_fd);
	closep(&target->cwd_fd);
	*target = (struct attach_target)ATTACH_TARGET_INIT;
}

int attach_target_find_socket(const struct attach_target *target)
{
	char name[ATTACH_NAME_BYTES];
	struct stat st;

	attach_socket_name(target, name);
	if (fstatat(target->tmp_fd, name, &st, AT_SYMLINK_NOFOLLOW) < 0)
		return -errno;
	return S_ISSOCK(st.st_mode) && st.st_uid == target->uid ? 0 : -EPERM;
}
