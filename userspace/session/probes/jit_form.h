/* SPDX-License-Identifier: Apache-2.0 */
/* What BPF is told of a place where libjvm says that it has compiled a method. */
#ifndef HOSTPROF_SESSION_PROBES_JIT_FORM_H
#define HOSTPROF_SESSION_PROBES_JIT_FORM_H

#include <stdint.h>

#include "elf/probe/usdt_notes.h"

/*
 * The form (bpf/wire_usdt.h) of STEP at NOTE, a place of hotspot:method__compile__end: names where all of them are in registers, the task where
 * the success is at a displacement from one.
 */
uint64_t jit_form(uint32_t step, const struct usdt_note *note);

#endif
