// SPDX-License-Identifier: Apache-2.0
#include "base/rights.h"

#include <errno.h>
#include <grp.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/macros.h"

/* include/linux/capability.h of the kernel: bpf_capable(), perfmon_capable(), checkpoint_restore_ns_capable(). */
#define SPLIT_OFF_ADMIN (RIGHT(CAP_BPF) | RIGHT(CAP_PERFMON) | RIGHT(CAP_CHECKPOINT_RESTORE))

struct capabilities {
	struct __user_cap_header_struct header;
	struct __user_cap_data_struct data[2];
};

static bool get(struct capabilities *caps)
{
	*caps = (struct capabilities){ .header = { _LINUX_CAPABILITY_VERSION_3, 0 } };
	return syscall(SYS_capget, &caps->header, caps->data) == 0;
}

static uint64_t permitted(const struct capabilities *caps)
{
	return (uint64_t)caps->data[1].permitted << 32 | caps->data[0].permitted;
}

uint64_t rights_permitted(void)
{
	struct capabilities caps;

	return get(&caps) ? permitted(&caps) : 0;
}

void rights_use(uint64_t wanted)
{
	struct capabilities caps;

	if (!get(&caps))
		return;
	for (unsigned int i = 0; i < 2; i++)
		caps.data[i].effective = caps.data[i].permitted & (uint32_t)(wanted >> (32 * i));
	syscall(SYS_capset, &caps.header, caps.data);
}

/* Of programs that are run nothing is expected. That takes CAP_SETPCAP; without it there is no_new_privs. */
static void bound(void)
{
	rights_use(RIGHT(CAP_SETPCAP));
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	for (unsigned long cap = 0; cap < 64; cap++)
		if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0 && errno == EINVAL)
			break; /* behind the last one */
}

void rights_keep(uint64_t wanted)
{
	struct capabilities caps;

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (!get(&caps))
		return;
	if (wanted & SPLIT_OFF_ADMIN & ~permitted(&caps))
		wanted |= RIGHT(CAP_SYS_ADMIN);
	bound();
	for (unsigned int i = 0; i < 2; i++) {
		caps.data[i].permitted &= (uint32_t)(wanted >> (32 * i));
		caps.data[i].effective = caps.data[i].permitted;
		caps.data[i].inheritable = 0;
	}
	syscall(SYS_capset, &caps.header, caps.data);
}

/*
 * Users for who has no rights, the first that there is. Who has nobody's number may send signals to all of nobody's processes; the first
 * one here is in a range that is given to nobody (systemd.io/UIDS-GIDS), but may be missing in a user namespace.
 */
#define NO_USER 4294967280U
#define NOBODY	65534U

void rights_leave_user(void)
{
	(void)setgroups(0, NULL);
	if (setresgid(NO_USER, NO_USER, NO_USER) < 0)
		(void)!setresgid(NOBODY, NOBODY, NOBODY);
	if (setresuid(NO_USER, NO_USER, NO_USER) < 0)
		(void)!setresuid(NOBODY, NOBODY, NOBODY);
}

void rights_limit(__rlimit_resource_t what, uint64_t most)
{
	struct rlimit old;

	if (getrlimit(what, &old) == 0 && most < old.rlim_max)
		setrlimit(what, &(struct rlimit){ most, most });
}

/* include/uapi/linux/capability.h */
static const char *const names[] = {
	"chown",
	"dac_override",
	"dac_read_search",
	"fowner",
	"fsetid",
	"kill",
	"setgid",
	"setuid",
	"setpcap",
	"linux_immutable",
	"net_bind_service",
	"net_broadcast",
	"net_admin",
	"net_raw",
	"ipc_lock",
	"ipc_owner",
	"sys_module",
	"sys_rawio",
	"sys_chroot",
	"sys_ptrace",
	"sys_pacct",
	"sys_admin",
	"sys_boot",
	"sys_nice",
	"sys_resource",
	"sys_time",
	"sys_tty_config",
	"mknod",
	"lease",
	"audit_write",
	"audit_control",
	"setfcap",
	"mac_override",
	"mac_admin",
	"syslog",
	"wake_alarm",
	"block_suspend",
	"audit_read",
	"perfmon",
	"bpf",
	"checkpoint_restore",
};

void rights_add_names(struct strbuf *out, uint64_t rights)
{
	const char *before = "";

	for (unsigned int cap = 0; cap < 64; cap++) {
		if (!(rights & RIGHT(cap)))
			continue;
		if (cap < ARRAY_SIZE(names))
			strbuf_addf(out, "%scap_%s", before, names[cap]);
		else
			strbuf_addf(out, "%s%u", before, cap);
		before = ", ";
	}
	strbuf_addstr(out, rights ? "" : "none");
}
