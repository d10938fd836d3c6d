// SPDX-License-Identifier: Apache-2.0
#include "capture/probes/uprobe_session.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/macros.h"

/* union bpf_attr's link_create.uprobe_multi (include/uapi/linux/bpf.h of Linux 6.6), which older headers do not have. */
struct link_attr {
	uint32_t prog_fd, target_fd, attach_type, flags;
	uint64_t path, offsets, ref_counters, cookies;
	uint32_t count, multi_flags, pid, pad;
};

_Static_assert(sizeof(struct link_attr) == 64, "as the kernel has it");

int uprobe_session_open(int prog_fd, const struct uprobe_session *session)
{
	struct link_attr attr = {
		.prog_fd = (uint32_t)prog_fd,
		.attach_type =
			session->is_multi ? UPROBE_MULTI_ATTACH_TYPE : UPROBE_SESSION_ATTACH_TYPE,
		.path = (uintptr_t)session->path,
		.offsets = (uintptr_t)session->offsets,
		.cookies = (uintptr_t)session->cookies,
		.count = session->count,
		.pid = session->pid,
	};
	/* The padding at the end is none of the kernel's fields. */
	long link = syscall(SYS_bpf, BPF_LINK_CREATE, &attr, offsetof(struct link_attr, pad));

	return link < 0 ? -errno : (int)link;
}

static int load_nothing(void)
{
	const struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, options,
		    .expected_attach_type = (enum bpf_attach_type)UPROBE_SESSION_ATTACH_TYPE);

	return bpf_prog_load(BPF_PROG_TYPE_KPROBE, NULL, "GPL", nothing, ARRAY_SIZE(nothing),
			     &options);
}

/* A directory has no functions: who knows what is asked says so (-EBADF), others that they do not (-EINVAL). */
bool uprobe_session_works(void)
{
	const uint64_t zero = 0;
	const struct uprobe_session session = {
		.path = "/", .count = 1, .offsets = &zero, .cookies = &zero
	};
	int prog = load_nothing(), link;

	if (prog < 0)
		return false;
	link = uprobe_session_open(prog, &session);
	close(prog);
	if (link >= 0)
		close(link);
	return link == -EBADF;
}
