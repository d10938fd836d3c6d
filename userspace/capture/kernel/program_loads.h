/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Programs that are loaded beside each other. The kernel looks through each for a quarter of a second, as each has a whole walk of a stack in
 * it; libbpf loads one after the other. Here it prepares them, and loads the small ones; the large ones are loaded from copies of their
 * instructions by a few threads, which the verifier allows to whoever may load programs (Linux kernel/bpf/verifier.c, bpf_check()).
 */
#ifndef HOSTPROF_CAPTURE_KERNEL_PROGRAM_LOADS_H
#define HOSTPROF_CAPTURE_KERNEL_PROGRAM_LOADS_H

#include <bpf/libbpf.h>

#include "base/macros.h"

struct program_loads;

/*
 * Before the object is opened, by the thread that opens and loads it, and until program_loads_end() has been called by it. CPUS: that are online;
 * half of them are used. NULL: libbpf is too old for it, or there is one cpu only.
 */
struct program_loads *program_loads_begin(unsigned int cpus);
/* The object is loaded; then all programs are. 0, or a negative errno, of the first that was refused. LOADS may be NULL. */
int program_loads_end(struct program_loads *loads);
/* In place of bpf_program__fd(). */
int program_loads_fd(const struct program_loads *loads, const struct bpf_program *program);
/* Closes what was loaded here. */
void program_loads_free(struct program_loads *loads);
DEFINE_CLEANUP(struct program_loads *, program_loads_free);

#endif
