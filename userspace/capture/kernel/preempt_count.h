/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a cpu's preempt count is, as the kernel's BTF has it: `__preempt_count`, in Linux 6.2 to 6.14 a member of `pcpu_hot`
 * (arch/x86/include/asm/preempt.h, current.h). It says whether the cpu serves an interrupt.
 */
#ifndef HOSTPROF_CAPTURE_KERNEL_PREEMPT_COUNT_H
#define HOSTPROF_CAPTURE_KERNEL_PREEMPT_COUNT_H

#include <stdint.h>

struct btf;

/* In bytes from `runqueues` on, among the variables of each cpu; 0: the BTF does not say. */
int64_t preempt_count_in(const struct btf *btf);
/* By that of this kernel, which takes some hundredths of a second. */
int64_t preempt_count_find(void);

#endif
