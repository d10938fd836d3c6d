/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where a function is best probed. The kernel carries out some instructions itself when a probe is hit (arch/x86/kernel/uprobes.c,
 * push_setup_xol_ops() and branch_setup_xol_ops()); any other one is stepped over elsewhere, which takes a second exception: twice as
 * long, and ten times in a virtual machine whose host sees each of them.
 */
#ifndef HOSTPROF_ELF_INFER_INFER_ENTRY_H
#define HOSTPROF_ELF_INFER_INFER_ENTRY_H

#include <stddef.h>
#include <stdint.h>

/* What is looked at of a function, and how far in it is probed at most. */
#define INFER_ENTRY_BYTES 4096
#define INFER_ENTRY_FAR	  32

/*
 * How many bytes behind its entry a function of this CODE can be probed for less, where arguments and stack are still as they were
 * there, and every call comes by once; 0: at its entry.
 */
uint32_t infer_entry_probe(const uint8_t *code, size_t len);

#endif
