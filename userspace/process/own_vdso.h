/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel maps the same vDSO into every 64-bit process: ours stands for all. It is an ELF file
 * in memory, with section headers.
 */
#ifndef HOSTPROF_PROCESS_OWN_VDSO_H
#define HOSTPROF_PROCESS_OWN_VDSO_H

#include <stddef.h>

/* Where ours lies, for the whole run, and its length; NULL when there is none. */
const void *own_vdso(size_t *ret_len);

#endif
