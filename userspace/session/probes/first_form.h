/* SPDX-License-Identifier: Apache-2.0 */
/* What BPF is told of a place whose probe has one argument that matters, the first. */
#ifndef HOSTPROF_SESSION_PROBES_FIRST_FORM_H
#define HOSTPROF_SESSION_PROBES_FIRST_FORM_H

#include <stdint.h>

#include "elf/probe/usdt_notes.h"

/* The form (bpf/wire_usdt.h) of STEP at NOTE: where the 8 bytes of its first argument are, in a register or at a displacement from one. */
uint64_t first_form(uint32_t step, const struct usdt_note *note);

#endif
