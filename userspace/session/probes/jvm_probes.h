/* SPDX-License-Identifier: Apache-2.0 */
/* Probes that HotSpot has in itself and that fire without any flag: notes of libjvm say where they are. Builds for Linux have them from JDK 11 on, JDK 8's have none. */
#ifndef HOSTPROF_SESSION_PROBES_JVM_PROBES_H
#define HOSTPROF_SESSION_PROBES_JVM_PROBES_H

#include "base/err.h"
#include "capture/capture.h"
#include "elf/probe/usdt_notes.h"
#include "process/process.h"

struct jvm_probe {
	const char *provider, *name;
	uint64_t (*form)(uint32_t step,
			 const struct usdt_note *note); /* what BPF is told; NULL: first_form() */
};

/*
 * Put TRIGGER's program at all places of COUNT PROBES in the JVM PROCESS; each is told its number, the step, in the form (WIRE_USDT_FORM()). -ENODATA: the process has no
 * HotSpot library, or that one of them not; ERR says so.
 */
int jvm_probes_open(struct capture *capture, const struct process *process,
		    enum wire_trigger trigger, const struct jvm_probe *probes, uint32_t count,
		    struct err *err);

/*
 * The same at COUNT ADDRESSES of its library, as PROCESS has it mapped: functions' first instructions, which no note tells of. -ENODATA, too: one is not in it.
 */
int jvm_probes_open_code(struct capture *capture, const struct process *process,
			 enum wire_trigger trigger, const uint64_t *addresses, uint32_t count,
			 struct err *err);

#endif
