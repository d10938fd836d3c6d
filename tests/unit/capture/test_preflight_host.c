// SPDX-License-Identifier: Apache-2.0
/* What each check says of hosts that are made up, and which of them explains a refusal. */
#include "test.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/file.h"
#include "capture/event.h"
#include "capture/preflight/preflight.h"

#define HOST_NAMESPACE 0xEFFFFFFCU
#define BIT(n)	       (1ULL << (n))
#define ALL_CAPS                                                                               \
	(BIT(CAP_BPF) | BIT(CAP_PERFMON) | BIT(CAP_SYS_PTRACE) | BIT(CAP_CHECKPOINT_RESTORE) | \
	 BIT(CAP_SYSLOG))

static struct {
	const char *release, *paranoid, *rate, *kptr, *lockdown; /* NULL: cannot be read */
	uint64_t caps;
	bool no_status, no_btf, pmu;
	int perf_error, map_error;
	bool map_stays_away;
	ino_t namespace;
} host;

/* --- in place of the kernel, base/file.c and capture/event.c --- */

int file_read(const char *path, size_t limit, struct strbuf *out)
{
	const struct {
		const char *path, *text;
	} files[] = {
		{ "/proc/sys/kernel/perf_event_paranoid", host.paranoid },
		{ "/proc/sys/kernel/perf_event_max_sample_rate", host.rate },
		{ "/proc/sys/kernel/kptr_restrict", host.kptr },
		{ "/sys/kernel/security/lockdown", host.lockdown },
	};

	if (!strcmp(path, "/proc/self/status") && !host.no_status && limit > 4096) {
		strbuf_addf(out, "Name:\thostprof\nCapEff:\t%016llx\nCapBnd:\t0\n",
			    (unsigned long long)host.caps);
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(files); i++) {
		if (strcmp(path, files[i].path) != 0 || !files[i].text || limit < 64)
			continue;
		strbuf_addstr(out, files[i].text);
		return 0;
	}
	return -ENOENT;
}

bool capture_has_pmu(void)
{
	return host.pmu;
}

int uname(struct utsname *name)
{
	if (!host.release)
		return -1;
	memset(name, 0, sizeof(*name));
	snprintf(name->release, sizeof(name->release), "%s", host.release);
	return 0;
}

/* gcov asks for directories, too. */
int access(const char *path, int mode)
{
	if (strcmp(path, "/sys/kernel/btf/vmlinux") != 0)
		return faccessat(AT_FDCWD, path, mode, 0);
	errno = ENOENT;
	return host.no_btf ? -1 : 0;
}

uid_t geteuid(void)
{
	return 1234;
}

/* Of all processes, on one cpu: else it proves nothing. */
long syscall(long number, ...)
{
	const struct perf_event_attr *attr;
	va_list ap;

	assert_int_equal(number, SYS_perf_event_open);
	va_start(ap, number);
	attr = va_arg(ap, const struct perf_event_attr *);
	assert_int_equal(attr->size, sizeof(*attr));
	assert_int_equal(attr->type, PERF_TYPE_SOFTWARE);
	assert_int_equal(attr->config, PERF_COUNT_SW_DUMMY);
	assert_int_equal(va_arg(ap, int), -1);
	assert_true(va_arg(ap, int) >= 0);
	assert_int_equal(va_arg(ap, int), -1);
	va_end(ap);
	errno = host.perf_error;
	return host.perf_error ? -1 : memfd_create("perf", MFD_CLOEXEC);
}

int stat(const char *restrict path, struct stat *restrict st)
{
	assert_string_equal(path, "/proc/self/ns/pid");
	memset(st, 0, sizeof(*st));
	st->st_ino = host.namespace;
	errno = ENOENT;
	return host.namespace ? 0 : -1;
}

int bpf_map_create(enum bpf_map_type type, const char *name, uint32_t key_size, uint32_t value_size,
		   uint32_t entries, const struct bpf_map_create_opts *options)
{
	int fds[2];

	assert_non_null(name);
	assert_int_equal(type, BPF_MAP_TYPE_ARRAY);
	assert_int_equal(options->map_flags, BPF_F_MMAPABLE);
	assert_int_equal(key_size, 4);
	assert_int_equal(value_size * entries, 4096);
	errno = host.map_error;
	if (host.map_error)
		return -1;
	if (!host.map_stays_away)
		return memfd_create("map", MFD_CLOEXEC);
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	close(fds[1]);
	return fds[0];
}

/* --- */

static int set_up(void **state)
{
	(void)state;
	memset(&host, 0, sizeof(host));
	host.release = "6.1.0-18-amd64";
	host.paranoid = "2\n";
	host.rate = "20000\n";
	host.kptr = "1\n";
	host.caps = ALL_CAPS;
	host.pmu = true;
	host.namespace = HOST_NAMESPACE;
	return 0;
}

static void expect(const char *id, enum preflight_state state, const char *found)
{
	for (const struct preflight_check *c = preflight_checks; c->id; c++) {
		struct preflight_result result = { .state = PREFLIGHT_OK };

		if (strcmp(c->id, id) != 0)
			continue;
		c->run(&result);
		assert_string_equal(result.found, found);
		assert_int_equal(result.state, state);
		return;
	}
	fail_msg("no check %s", id);
}

static void nothing_is_missing(void **state)
{
	struct err err = { 0 };

	(void)state;
	expect("kernel", PREFLIGHT_OK, "6.1.0-18-amd64");
	expect("btf", PREFLIGHT_OK, "/sys/kernel/btf/vmlinux");
	expect("cap-bpf", PREFLIGHT_OK, "cap_bpf");
	expect("cap-perfmon", PREFLIGHT_OK, "cap_perfmon");
	expect("cap-sys-ptrace", PREFLIGHT_OK, "cap_sys_ptrace");
	expect("map-files", PREFLIGHT_OK, "cap_checkpoint_restore");
	expect("perf-paranoid", PREFLIGHT_OK, "kernel.perf_event_paranoid = 2");
	expect("lockdown", PREFLIGHT_OK, "not in use");
	expect("unwind-tables", PREFLIGHT_OK, "can be mapped");
	expect("kallsyms", PREFLIGHT_OK, "kernel.kptr_restrict = 1, cap_syslog");
	expect("sample-rate", PREFLIGHT_OK, "kernel.perf_event_max_sample_rate = 20000");
	expect("pmu", PREFLIGHT_OK, "present");
	expect("pid-namespace", PREFLIGHT_OK, "the host's");
	assert_int_equal(preflight_explain(&err), 0);
}

static void kernels(void **state)
{
	(void)state;
	host.release = "6.0.9";
	expect("kernel", PREFLIGHT_FAIL, "6.0.9");
	host.release = "5.19";
	expect("kernel", PREFLIGHT_FAIL, "5.19");
	host.release = "7.0";
	expect("kernel", PREFLIGHT_OK, "7.0");
	host.release = "unreadable";
	expect("kernel", PREFLIGHT_WARN, "unknown version");
	host.release = NULL;
	expect("kernel", PREFLIGHT_WARN, "unknown version");
	host.no_btf = true;
	expect("btf", PREFLIGHT_FAIL, "/sys/kernel/btf/vmlinux: No such file or directory");
}

static void capabilities(void **state)
{
	(void)state;
	host.caps = ~ALL_CAPS & ~BIT(CAP_SYS_ADMIN);
	expect("cap-bpf", PREFLIGHT_FAIL, "cap_bpf missing (user id 1234)");
	expect("cap-perfmon", PREFLIGHT_FAIL, "cap_perfmon missing (user id 1234)");
	expect("cap-sys-ptrace", PREFLIGHT_WARN, "cap_sys_ptrace missing (user id 1234)");
	expect("map-files", PREFLIGHT_WARN, "cap_checkpoint_restore missing (user id 1234)");
	expect("kallsyms", PREFLIGHT_WARN, "cap_syslog missing");
	/* What was split off from it is in it. */
	host.caps = BIT(CAP_SYS_ADMIN);
	expect("cap-bpf", PREFLIGHT_OK, "cap_sys_admin");
	expect("cap-perfmon", PREFLIGHT_OK, "cap_sys_admin");
	expect("map-files", PREFLIGHT_OK, "cap_sys_admin");
	expect("cap-sys-ptrace", PREFLIGHT_WARN, "cap_sys_ptrace missing (user id 1234)");
	host.caps = ALL_CAPS;
	host.no_status = true;
	expect("cap-bpf", PREFLIGHT_FAIL, "cap_bpf missing (user id 1234)");
}

static void perf_events(void **state)
{
	(void)state;
	host.perf_error = EMFILE; /* not a question of rights */
	expect("perf-paranoid", PREFLIGHT_OK, "kernel.perf_event_paranoid = 2");
	host.perf_error = EACCES;
	expect("perf-paranoid", PREFLIGHT_FAIL, "perf_event_open: Permission denied");
	host.perf_error = EPERM;
	host.paranoid = "3\n";
	expect("perf-paranoid", PREFLIGHT_FAIL, "kernel.perf_event_paranoid = 3, no cap_sys_admin");
	host.caps = BIT(CAP_SYS_ADMIN);
	expect("perf-paranoid", PREFLIGHT_FAIL, "kernel.perf_event_paranoid = 3, no cap_sys_admin");
	host.caps = 0;
	expect("perf-paranoid", PREFLIGHT_FAIL, "kernel.perf_event_paranoid = 3, no cap_perfmon");
	host.paranoid = NULL;
	expect("perf-paranoid", PREFLIGHT_FAIL, "kernel without perf events");
	host.rate = "19999\n";
	expect("sample-rate", PREFLIGHT_WARN, "kernel.perf_event_max_sample_rate = 19999");
	host.rate = NULL;
	expect("sample-rate", PREFLIGHT_WARN, "kernel without perf events");
	host.pmu = false;
	expect("pmu", PREFLIGHT_WARN, "none; cycles and the like become cpu-clock");
}

static void policies(void **state)
{
	(void)state;
	host.lockdown = "none [integrity] confidentiality\n";
	expect("lockdown", PREFLIGHT_OK, "integrity");
	host.lockdown = "none integrity [confidentiality]\n";
	expect("lockdown", PREFLIGHT_FAIL, "confidentiality");
	host.lockdown = "none\n";
	expect("lockdown", PREFLIGHT_WARN, "unknown mode");
	host.kptr = "2\n";
	expect("kallsyms", PREFLIGHT_WARN, "kernel.kptr_restrict = 2");
	host.kptr = NULL;
	expect("kallsyms", PREFLIGHT_WARN, "kernel.kptr_restrict cannot be read");
	host.namespace = 4026532000;
	expect("pid-namespace", PREFLIGHT_WARN, "a container's");
	host.namespace = 0;
	expect("pid-namespace", PREFLIGHT_WARN, "/proc/self/ns/pid: No such file or directory");
}

static void maps_in_memory(void **state)
{
	(void)state;
	host.map_stays_away = true;
	expect("unwind-tables", PREFLIGHT_FAIL, "cannot map them: Permission denied");
	host.map_error = EPERM;
	expect("unwind-tables", PREFLIGHT_WARN, "cannot make a map: Operation not permitted");
	host.map_error = EINVAL;
	expect("unwind-tables", PREFLIGHT_FAIL, "cannot make a map: Invalid argument");
}

/* --- the explanation of a refusal --- */

static void expect_explanation(int rc, const char *begin, const char *found, const char *hint)
{
	struct err err = { 0 };

	assert_int_equal(preflight_explain(&err), rc);
	assert_int_equal(err.code, rc);
	assert_int_equal(strncmp(err.text, begin, strlen(begin)), 0);
	assert_string_equal(err.text + strlen(err.text) - strlen(found), found);
	assert_int_equal(strncmp(err.hint, hint, strlen(hint)), 0);
	assert_true(err.hint[0]);
}

/* Those that rights would mend are -EPERM; the first one counts. */
static void explanations(void **state)
{
	(void)state;
	host.map_error = EINVAL;
	expect_explanation(-EOPNOTSUPP, "recording needs unwind tables (BPF maps in memory) (for ",
			   "; found: cannot make a map: Invalid argument", "run as root");
	host.lockdown = "none integrity [confidentiality]\n";
	expect_explanation(-EPERM, "recording needs no kernel lockdown", "; found: confidentiality",
			   "boot with lockdown=integrity");
	host.perf_error = EACCES;
	expect_explanation(-EPERM, "recording needs perf events allowed",
			   "; found: perf_event_open: Permission denied", "run as root");
	host.caps = BIT(CAP_BPF);
	expect_explanation(-EPERM, "recording needs CAP_PERFMON",
			   "; found: cap_perfmon missing (user id 1234)", "run as root");
	host.caps = 0;
	expect_explanation(-EPERM, "recording needs CAP_BPF",
			   "; found: cap_bpf missing (user id 1234)", "run as root");
	host.no_btf = true;
	expect_explanation(-EOPNOTSUPP, "recording needs kernel type information",
			   "No such file or directory", "boot a kernel built with");
	host.release = "5.10";
	expect_explanation(-EOPNOTSUPP,
			   "recording needs Linux >= 6.1 (for BPF features that recording uses)",
			   "; found: 5.10", "boot a newer kernel");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(nothing_is_missing, set_up),
		cmocka_unit_test_setup(kernels, set_up),
		cmocka_unit_test_setup(capabilities, set_up),
		cmocka_unit_test_setup(perf_events, set_up),
		cmocka_unit_test_setup(policies, set_up),
		cmocka_unit_test_setup(maps_in_memory, set_up),
		cmocka_unit_test_setup(explanations, set_up),
	};

	return cmocka_run_group_tests_name("preflight_host", tests, NULL, NULL);
}
