// SPDX-License-Identifier: Apache-2.0
#include "capture/preflight/preflight.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/file.h"
#include "capture/event.h"
#include "capture/preflight/preflight_parse.h"

/* The initial pid namespace has a fixed inode number (include/linux/proc_ns.h). */
#define HOST_PID_NS_INODE 0xEFFFFFFCU
/* -F goes up to here; the kernel throttles events that are faster than its limit. */
#define WANTED_SAMPLE_RATE CAPTURE_MAX_FREQ_HZ

static void result_set(struct preflight_result *result, enum preflight_state state, const char *fmt,
		       ...) PRINTF_LIKE(3, 4);

static void result_set(struct preflight_result *result, enum preflight_state state, const char *fmt,
		       ...)
{
	va_list ap;

	result->state = state;
	va_start(ap, fmt);
	vsnprintf(result->found, sizeof(result->found), fmt, ap);
	va_end(ap);
}

static void check_kernel(struct preflight_result *result)
{
	struct utsname name;
	unsigned int major, minor;

	if (uname(&name) < 0 || preflight_parse_release(name.release, &major, &minor) < 0) {
		result_set(result, PREFLIGHT_WARN, "unknown version");
		return;
	}
	result_set(result, major > 6 || (major == 6 && minor >= 1) ? PREFLIGHT_OK : PREFLIGHT_FAIL,
		   "%.64s", name.release);
}

static void check_btf(struct preflight_result *result)
{
	if (access("/sys/kernel/btf/vmlinux", R_OK) == 0)
		result_set(result, PREFLIGHT_OK, "/sys/kernel/btf/vmlinux");
	else
		result_set(result, PREFLIGHT_FAIL, "/sys/kernel/btf/vmlinux: %s", strerror(errno));
}

/* The effective capabilities of this process, 0 when they cannot be read. */
static uint64_t read_capabilities(void)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	uint64_t caps;

	if (file_read("/proc/self/status", 65536, &text) < 0 ||
	    preflight_parse_capabilities(strbuf_str(&text), &caps) < 0)
		return 0;
	return caps;
}

static bool has_capability(int cap)
{
	return read_capabilities() >> cap & 1;
}

static void check_capability(struct preflight_result *result, int cap, const char *name,
			     enum preflight_state otherwise)
{
	/* CAP_SYS_ADMIN includes both since they were split off in Linux 5.8. */
	bool by_admin = (cap == CAP_BPF || cap == CAP_PERFMON || cap == CAP_CHECKPOINT_RESTORE) &&
			has_capability(CAP_SYS_ADMIN);

	if (has_capability(cap))
		result_set(result, PREFLIGHT_OK, "%s", name);
	else if (by_admin)
		result_set(result, PREFLIGHT_OK, "cap_sys_admin");
	else
		result_set(result, otherwise, "%s missing (user id %u)", name,
			   (unsigned int)geteuid());
}

static void check_cap_bpf(struct preflight_result *result)
{
	check_capability(result, CAP_BPF, "cap_bpf", PREFLIGHT_FAIL);
}

static void check_cap_perfmon(struct preflight_result *result)
{
	check_capability(result, CAP_PERFMON, "cap_perfmon", PREFLIGHT_FAIL);
}

static void check_cap_ptrace(struct preflight_result *result)
{
	check_capability(result, CAP_SYS_PTRACE, "cap_sys_ptrace", PREFLIGHT_WARN);
}

static void check_cap_map_files(struct preflight_result *result)
{
	check_capability(result, CAP_CHECKPOINT_RESTORE, "cap_checkpoint_restore", PREFLIGHT_WARN);
}

static int read_sysctl(const char *path, long *ret_value)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	int r = file_read(path, 4096, &text);

	return r < 0 ? r : preflight_parse_long(strbuf_str(&text), ret_value);
}

/* kernel/kallsyms.c, kallsyms_show_value(): 0 shows to all, 1 to CAP_SYSLOG, 2 to nobody. */
static void check_kptr_restrict(struct preflight_result *result)
{
	long value;

	if (read_sysctl("/proc/sys/kernel/kptr_restrict", &value) < 0)
		result_set(result, PREFLIGHT_WARN, "kernel.kptr_restrict cannot be read");
	else if (value >= 2)
		result_set(result, PREFLIGHT_WARN, "kernel.kptr_restrict = %ld", value);
	else if (!has_capability(CAP_SYSLOG))
		result_set(result, PREFLIGHT_WARN, "cap_syslog missing");
	else
		result_set(result, PREFLIGHT_OK, "kernel.kptr_restrict = %ld, cap_syslog", value);
}

/* The capabilities do not tell: kernels of Debian and Ubuntu add levels above 2, seccomp may forbid. */
static int try_perf_event(void)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.disabled = 1,
	};
	long fd = syscall(SYS_perf_event_open, &attr, -1, sched_getcpu(), -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return -errno;
	close((int)fd);
	return 0;
}

bool preflight_may_open_events(void)
{
	int r = try_perf_event();

	return r != -EACCES && r != -EPERM;
}

static void check_paranoid(struct preflight_result *result)
{
	long value;
	int r;

	if (read_sysctl("/proc/sys/kernel/perf_event_paranoid", &value) < 0) {
		result_set(result, PREFLIGHT_FAIL, "kernel without perf events");
		return;
	}
	r = try_perf_event();
	if (r != -EACCES && r != -EPERM)
		result_set(result, PREFLIGHT_OK, "kernel.perf_event_paranoid = %ld", value);
	else if (!has_capability(CAP_PERFMON) && !has_capability(CAP_SYS_ADMIN))
		result_set(result, PREFLIGHT_FAIL,
			   "kernel.perf_event_paranoid = %ld, no cap_perfmon", value);
	else if (value > 2)
		result_set(result, PREFLIGHT_FAIL,
			   "kernel.perf_event_paranoid = %ld, no cap_sys_admin", value);
	else
		result_set(result, PREFLIGHT_FAIL, "perf_event_open: %s", strerror(-r));
}

static void check_sample_rate(struct preflight_result *result)
{
	long value;

	if (read_sysctl("/proc/sys/kernel/perf_event_max_sample_rate", &value) < 0)
		result_set(result, PREFLIGHT_WARN, "kernel without perf events");
	else
		result_set(result, value >= WANTED_SAMPLE_RATE ? PREFLIGHT_OK : PREFLIGHT_WARN,
			   "kernel.perf_event_max_sample_rate = %ld", value);
}

static void check_pmu(struct preflight_result *result)
{
	if (capture_has_pmu())
		result_set(result, PREFLIGHT_OK, "present");
	else
		result_set(result, PREFLIGHT_WARN, "none; cycles and the like become cpu-clock");
}

/* security/lockdown/lockdown.c: "confidentiality" forbids BPF to read kernel memory. */
static void check_lockdown(struct preflight_result *result)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	char mode[32];

	if (file_read("/sys/kernel/security/lockdown", 4096, &text) < 0)
		result_set(result, PREFLIGHT_OK, "not in use");
	else if (preflight_parse_lockdown(strbuf_str(&text), mode) < 0)
		result_set(result, PREFLIGHT_WARN, "unknown mode");
	else
		result_set(result,
			   strcmp(mode, "confidentiality") == 0 ? PREFLIGHT_FAIL : PREFLIGHT_OK,
			   "%s", mode);
}

/* Arrays that BPF reads and we write without a call: from Linux 5.5 on, not under every policy. */
static void check_unwind_tables(struct preflight_result *result)
{
	LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_MMAPABLE);
	_cleanup_close_ int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "hostprof_check",
						sizeof(uint32_t), 4096, 1, &options);
	void *at;

	if (fd < 0) {
		result_set(result, errno == EPERM ? PREFLIGHT_WARN : PREFLIGHT_FAIL,
			   "cannot make a map: %s", strerror(errno));
		return;
	}
	at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (at == MAP_FAILED) {
		result_set(result, PREFLIGHT_FAIL, "cannot map them: %s", strerror(errno));
		return;
	}
	munmap(at, 4096);
	result_set(result, PREFLIGHT_OK, "can be mapped");
}

static void check_pid_namespace(struct preflight_result *result)
{
	struct stat st;

	if (stat("/proc/self/ns/pid", &st) < 0)
		result_set(result, PREFLIGHT_WARN, "/proc/self/ns/pid: %s", strerror(errno));
	else if (st.st_ino == HOST_PID_NS_INODE)
		result_set(result, PREFLIGHT_OK, "the host's");
	else
		result_set(result, PREFLIGHT_WARN, "a container's");
}

#define SETCAP \
	"run as root, or setcap cap_bpf,cap_perfmon,cap_sys_ptrace,cap_syslog,cap_checkpoint_restore+ep on hostprof"

const struct preflight_check preflight_checks[] = {
	{ "kernel", "Linux >= 6.1", "BPF features that recording uses", "boot a newer kernel",
	  check_kernel },
	{ "btf", "kernel type information (BTF)", "reading kernel structures of this very kernel",
	  "boot a kernel built with CONFIG_DEBUG_INFO_BTF=y", check_btf },
	{ "cap-bpf", "CAP_BPF", "loading BPF programs", SETCAP, check_cap_bpf },
	{ "cap-perfmon", "CAP_PERFMON", "sampling whole cpus, reading memory from BPF", SETCAP,
	  check_cap_perfmon },
	{ "perf-paranoid", "perf events allowed", "sampling whole cpus",
	  "run as root or with cap_perfmon; where the value is above 2 (Debian, Ubuntu), sysctl "
	  "kernel.perf_event_paranoid=2 too",
	  check_paranoid },
	{ "lockdown", "no kernel lockdown for confidentiality", "BPF reading kernel memory",
	  "boot with lockdown=integrity, or without", check_lockdown },
	{ "cap-sys-ptrace", "CAP_SYS_PTRACE", "mappings and memory of other users' processes",
	  SETCAP, check_cap_ptrace },
	{ "map-files", "CAP_CHECKPOINT_RESTORE",
	  "deleted files and files in containers (map_files)", SETCAP, check_cap_map_files },
	{ "unwind-tables", "unwind tables (BPF maps in memory)",
	  "native stacks of code without frame pointers", SETCAP, check_unwind_tables },
	{ "kallsyms", "kernel symbols readable", "names of kernel functions",
	  "sysctl kernel.kptr_restrict=1, and run as root or with cap_syslog",
	  check_kptr_restrict },
	{ "sample-rate", "perf sample rate >= 20,000 Hz",
	  "frequencies up to the maximum unthrottled",
	  "sysctl kernel.perf_event_max_sample_rate=100000", check_sample_rate },
	{ "pmu", "hardware counters (PMU)", "-e cycles, cache-misses, rNNN, …",
	  "in a virtual machine: let the hypervisor pass a vPMU; cpu-clock works without",
	  check_pmu },
	{ "pid-namespace", "host pid namespace", "seeing all processes of the host",
	  "start the container with the host's pid namespace (--pid=host)", check_pid_namespace },
	{ NULL, NULL, NULL, NULL, NULL },
};

int preflight_explain(struct err *err)
{
	for (const struct preflight_check *check = preflight_checks; check->id; check++) {
		struct preflight_result result = { .state = PREFLIGHT_OK };
		bool permission = strncmp(check->id, "cap-", 4) == 0 ||
				  strcmp(check->id, "perf-paranoid") == 0 ||
				  strcmp(check->id, "lockdown") == 0;

		check->run(&result);
		if (result.state != PREFLIGHT_FAIL)
			continue;
		err_set(err, permission ? -EPERM : -EOPNOTSUPP,
			"recording needs %s (for %s); found: %s", check->title, check->needed,
			result.found);
		return err_hint(err, "%s", check->mend);
	}
	return 0;
}
