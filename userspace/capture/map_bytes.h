/* SPDX-License-Identifier: Apache-2.0 */
/* What a BPF map takes, as the kernel accounts for it (memlock in its fdinfo; Linux kernel/bpf/syscall.c, bpf_map_show_fdinfo()). */
#ifndef HOSTPROF_CAPTURE_MAP_BYTES_H
#define HOSTPROF_CAPTURE_MAP_BYTES_H

#include <stdint.h>

/* 0 when it cannot be read. */
uint64_t bpf_map_bytes(int map_fd);

#endif
