/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel has some 150,000 types, our programs read 20. libbpf looks at all of them once for each of ours (bpf_core_find_cands() in
 * its libbpf.c), which is a sixth of a recording's start; so it is given a BTF that holds what ours are in the running kernel, and
 * what these are made of.
 */
#ifndef HOSTPROF_CAPTURE_KERNEL_KERNEL_TYPES_H
#define HOSTPROF_CAPTURE_KERNEL_KERNEL_TYPES_H

#include <stddef.h>

#include "base/strbuf.h"

struct btf;

/*
 * Append to OUT, of the LEN bytes of BTF at KERNEL, the structures and unions that are called as one of WANTED is, with all their
 * fields; what a pointer points to is void. 0, -EBADMSG, or -EOPNOTSUPP where a kind of type is not known here.
 */
int kernel_types_cut(const void *kernel, size_t len, const struct btf *wanted, struct strbuf *out);

/* The same of the running kernel, written to the file FD. 0, or a negative errno. */
int kernel_types_write(const struct btf *wanted, int fd);

#endif
