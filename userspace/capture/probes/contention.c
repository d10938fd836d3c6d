// SPDX-License-Identifier: Apache-2.0
/*
 * A program on a tracepoint of the kernel's own (tp_btf) is found by the type that the kernel has for its callback: btf_trace_NAME, by
 * include/trace/bpf_probe.h. Both of these came with one change (include/trace/events/lock.h, Linux 5.19).
 */
#include "capture/probes/contention.h"

#include <bpf/btf.h>
#include <errno.h>
#include <stdbool.h>

#define CALLBACK "btf_trace_contention_end"

int contention_check(struct err *err)
{
	struct btf *btf = btf__load_vmlinux_btf();
	bool is_there = !btf || btf__find_by_name_kind(btf, CALLBACK, BTF_KIND_TYPEDEF) > 0;

	btf__free(btf);
	if (is_there)
		return 0;
	err_set(err, -EOPNOTSUPP, "this kernel does not tell of its locks");
	return err_hint(err, "the tracepoints lock:contention_begin and _end came with Linux 5.19");
}
