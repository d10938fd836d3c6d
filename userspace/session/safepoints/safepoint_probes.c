// SPDX-License-Identifier: Apache-2.0
#include "session/safepoints/safepoint_probes.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>

#include "base/alloc.h"
#include "elf/reader/reader_probe.h"
#include "jvm/layout/libjvm.h"

/* libjvm's notes are some 40 kB; those of all its sections that a reader may look at. */
#define NOTES_BYTES (256ULL << 20)

/* By hotspot.d and hs_private.d of src/hotspot/os/posix/dtrace. */
static const struct {
	const char *provider, *name;
} probes[WIRE_SAFEPOINT_STEPS] = {
	[WIRE_SAFEPOINT_BEGIN] = { "hs_private", "safepoint__begin" },
	[WIRE_SAFEPOINT_OPERATION] = { "hotspot", "vmops__begin" },
	[WIRE_SAFEPOINT_OPERATION_END] = { "hotspot", "vmops__end" },
	[WIRE_SAFEPOINT_END] = { "hs_private", "safepoint__end" },
};

bool safepoint_probes_wanted(const struct capture_options *options)
{
	for (unsigned int i = 0; i < options->event_count; i++)
		if (capture_event_is_safepoint(&options->events[i]))
			return true;
	return false;
}

static int add_place(struct capture *capture, const struct process *process,
		     const struct libjvm *lib, uint32_t step, const struct usdt_note *note,
		     struct err *err)
{
	const struct elf_segment *segment = elf_segment_find(
		lib->file.segments.items, lib->file.segments.len, PF_X, note->address);
	char path[64];
	struct capture_place place = { .trigger = WIRE_TRIGGER_SAFEPOINT,
				       .form = WIRE_SAFEPOINT_FORM(step, note->first_reg),
				       .pid = process->pid,
				       .generation = process->serial,
				       .path = path };

	if (!segment)
		return err_set(err, -EBADMSG, "the probe %s of process %u is not in its code",
			       probes[step].name, process->pid);
	place.offset = elf_segment_offset(segment, note->address);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", lib->fd);
	return capture_add_place(capture, &place, err);
}

static int probe(struct capture *capture, const struct process *process, const struct libjvm *lib,
		 uint32_t step, struct err *err)
{
	_cleanup_free_ struct reader_usdt *usdt = xmalloc(sizeof(*usdt));
	int r = reader_usdt(lib->fd, probes[step].provider, probes[step].name, NOTES_BYTES, usdt,
			    err);

	if (r < 0)
		return r;
	if (!usdt->count) {
		err_set(err, -ENODATA, "the JVM of process %u has no probe %s in itself",
			process->pid, probes[step].name);
		return err_hint(err, "JDK 11 and later have it");
	}
	for (uint32_t i = 0; i < MIN(usdt->count, (uint32_t)READER_MAX_USDT) && r == 0; i++)
		r = add_place(capture, process, lib, step, &usdt->note[i], err);
	return r;
}

int safepoint_probes_open(struct capture *capture, const struct process *process, struct err *err)
{
	const struct mapping *mapping = libjvm_find_mapping(process);
	_cleanup_(libjvm_close) struct libjvm lib = LIBJVM_INIT;
	int r;

	if (!mapping)
		return err_set(err, -ENODATA, "process %u is no JVM", process->pid);
	r = libjvm_open(process->pid, mapping, &lib, err);
	for (uint32_t step = 0; step < WIRE_SAFEPOINT_STEPS && r == 0; step++)
		r = probe(capture, process, &lib, step, err);
	return r;
}
