/* SPDX-License-Identifier: Apache-2.0 */
/* What libbpf said last: the best sentence there is about a program that was refused. It is never printed: its advice ("try raising ulimit -l") is wrong on the kernels we need. */
#ifndef HOSTPROF_CAPTURE_KERNEL_LIBBPF_WARNING_H
#define HOSTPROF_CAPTURE_KERNEL_LIBBPF_WARNING_H

/* From now on; what was said before is forgotten. */
void libbpf_warning_listen(void);
/* One line; "": it has not warned. Borrowed, until it warns again. */
const char *libbpf_warning(void);

#endif
