/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a thread has woken another one, or an interrupt that came over it: what BPF could not tell names of the kernel's frames do. */
#ifndef HOSTPROF_SYMBOLIZE_WAITS_WAKER_H
#define HOSTPROF_SYMBOLIZE_WAITS_WAKER_H

#include <stdbool.h>

#include "profile/profile.h"
#include "wire.h"

/*
 * Has the thread whose STACK it is done it? WAKER: enum wire_waker. A softirq is a thread's doing where it is ksoftirqd's, or where what
 * this one has sent to its own host arrives in it. Where names say nothing, it is no thread's.
 */
bool waker_is_thread(const struct profile *profile, uint32_t stack, unsigned int waker);

/* Of the STACK of an interrupt what is its own: up to where it entered the kernel, or the kernel's frames. */
uint32_t waker_interrupt_stack(struct profile *profile, uint32_t stack);

#endif
