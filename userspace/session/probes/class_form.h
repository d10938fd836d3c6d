/* SPDX-License-Identifier: Apache-2.0 */
/* What BPF is told of a place where libjvm says that it has loaded a class. */
#ifndef HOSTPROF_SESSION_PROBES_CLASS_FORM_H
#define HOSTPROF_SESSION_PROBES_CLASS_FORM_H

#include <stdint.h>

#include "elf/probe/usdt_notes.h"

/* The form (bpf/wire_usdt.h) of STEP at NOTE, a place of hotspot:class__loaded: the name where it is in registers, and whether it is shared. */
uint64_t class_form(uint32_t step, const struct usdt_note *note);

#endif
