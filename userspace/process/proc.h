/* SPDX-License-Identifier: Apache-2.0 */
/* Readers of /proc/PID files. Parsers take bytes, so that tests and fuzzers need no process. */
#ifndef HOSTPROF_PROCESS_PROC_H
#define HOSTPROF_PROCESS_PROC_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/file_key.h"
#include "base/strbuf.h"

/* One line of /proc/PID/maps. Returns the bytes it took incl. newline, 0 at the end, -EBADMSG. */
struct maps_line {
	uint64_t start, end, pgoff;
	char perms[5];
	struct file_key key;
	const char
		*path; /* borrowed from the text, not terminated; with octal escapes as printed */
	size_t path_len;
};

ssize_t proc_parse_maps_line(const char *text, size_t len, struct maps_line *ret_line);
/* The path without escapes; caller frees. */
char *maps_line_path(const struct maps_line *line);

struct proc_stat {
	char comm[64];
	char state;
	uint32_t ppid;
	uint64_t start_ns; /* CLOCK_MONOTONIC, to the clock tick */
};

int proc_parse_stat(const char *text, size_t len, struct proc_stat *ret_stat);
int proc_read_stat(uint32_t pid, struct proc_stat *ret_stat);

/* /proc/PID/status, what attach and doctor need of it. */
struct proc_status {
	uint32_t uid, gid;    /* effective */
	uint32_t ns_pid;      /* pid in its innermost pid namespace */
	uint64_t sig_caught;  /* SigCgt mask; bit (signo - 1) */
	uint64_t sig_ignored; /* SigIgn mask */
	uint32_t threads;
};

int proc_parse_status(const char *text, size_t len, struct proc_status *ret_status);
int proc_read_status(uint32_t pid, struct proc_status *ret_status);
/* That of one of its threads: ns_pid is the thread's. */
int proc_read_thread_status(uint32_t pid, uint32_t tid, struct proc_status *ret_status);

/* cgroup2 path of a process ("0::/path"), and the container id in it ("" when none). */
int proc_parse_cgroup(const char *text, size_t len, char **ret_path);
int proc_read_cgroup(uint32_t pid, char **ret_path);
void container_id_from_cgroup(const char *cgroup_path, char ret_id[65]);

/* Asked of /proc: no system call of ours is about the process itself, not even kill(pid, 0). */
bool proc_is_there(uint32_t pid);

/* Are processes of others not in /proc for who may not trace them? By the text of /proc/self/mounts, option hidepid. */
bool proc_parse_hides(const char *text, size_t len);
bool proc_hides_processes(void);

/* readlink of /proc/PID/exe; caller frees. */
int proc_read_exe(uint32_t pid, char **ret_path);

/* Arguments, NUL-separated as in /proc/PID/cmdline. */
int proc_read_cmdline(uint32_t pid, struct strbuf *out);

/* All of a file of /proc/PID that may make one wait, since it is about the process's memory. */
int proc_read_file(uint32_t pid, const char *path, size_t limit, struct strbuf *out);

/* Read another process's memory. 0 or -EFAULT, -ESRCH, -EPERM; see wall/wall.h. */
int proc_read_memory(uint32_t pid, uint64_t address, void *data, size_t len);
/* The same up to the first page that is not there: how many bytes there were, or -errno. */
ssize_t proc_read_pages(uint32_t pid, uint64_t address, void *data, size_t len);
/* Is TID one of its threads? */
bool proc_has_thread(uint32_t pid, uint32_t tid);

/* Call FN for every process directory of /proc. */
int proc_for_each_pid(int (*fn)(uint32_t pid, void *data), void *data);

#endif
