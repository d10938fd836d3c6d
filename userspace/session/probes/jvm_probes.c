// SPDX-License-Identifier: Apache-2.0
#include "session/probes/jvm_probes.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>

#include "base/alloc.h"
#include "elf/reader/reader_probe.h"
#include "jvm/layout/libjvm.h"
#include "session/probes/first_form.h"

/* libjvm's notes are some 40 kB; those of all its sections that a reader may look at. */
#define NOTES_BYTES (256ULL << 20)

/* A JVM whose probes are looked for. */
struct target {
	struct capture *capture;
	const struct process *process;
	enum wire_trigger trigger;
	struct libjvm lib;
};

static uint64_t form_of(const struct jvm_probe *probe, uint32_t step, const struct usdt_note *note)
{
	return probe->form ? probe->form(step, note) : first_form(step, note);
}

static int add_place(const struct target *t, uint64_t form, uint64_t offset, struct err *err)
{
	char path[64];
	struct capture_place place = { .trigger = t->trigger,
				       .form = form,
				       .pid = t->process->pid,
				       .generation = t->process->serial,
				       .path = path,
				       .offset = offset };

	snprintf(path, sizeof(path), "/proc/self/fd/%d", t->lib.fd);
	return capture_add_place(t->capture, &place, err);
}

static int add_note(const struct target *t, const struct jvm_probe *probe, uint32_t step,
		    const struct usdt_note *note, struct err *err)
{
	const struct elf_segment *segment = elf_segment_find(
		t->lib.file.segments.items, t->lib.file.segments.len, PF_X, note->address);

	if (!segment)
		return err_set(err, -EBADMSG, "the probe %s of process %u is not in its code",
			       probe->name, t->process->pid);
	return add_place(t, form_of(probe, step, note), elf_segment_offset(segment, note->address),
			 err);
}

static int add_places(const struct target *t, const struct jvm_probe *probe, uint32_t step,
		      struct err *err)
{
	_cleanup_free_ struct reader_usdt *usdt = xmalloc(sizeof(*usdt));
	int r = reader_usdt(t->lib.fd, probe->provider, probe->name, NOTES_BYTES, usdt, err);

	if (r < 0)
		return r;
	if (!usdt->count) {
		err_set(err, -ENODATA, "the JVM of process %u has no probe %s in itself",
			t->process->pid, probe->name);
		return err_hint(err, "JDK 11 and later have it");
	}
	for (uint32_t i = 0; i < MIN(usdt->count, (uint32_t)READER_MAX_USDT) && r == 0; i++)
		r = add_note(t, probe, step, &usdt->note[i], err);
	return r;
}

/* TARGET has all but its library, which lies in *RET_MAPPING. */
static int open_library(struct target *target, const struct mapping **ret_mapping, struct err *err)
{
	*ret_mapping = libjvm_find_mapping(target->process);
	if (!*ret_mapping)
		return err_set(err, -ENODATA, "process %u is no JVM", target->process->pid);
	return libjvm_open(target->process->pid, *ret_mapping, &target->lib, err);
}

int jvm_probes_open(struct capture *capture, const struct process *process,
		    enum wire_trigger trigger, const struct jvm_probe *probes, uint32_t count,
		    struct err *err)
{
	struct target t = { capture, process, trigger, LIBJVM_INIT };
	const struct mapping *mapping;
	int r = open_library(&t, &mapping, err);

	for (uint32_t step = 0; step < count && r == 0; step++)
		r = add_places(&t, &probes[step], step, err);
	libjvm_close(&t.lib);
	return r;
}

int jvm_probes_open_code(struct capture *capture, const struct process *process,
			 enum wire_trigger trigger, const uint64_t *addresses, uint32_t count,
			 struct err *err)
{
	struct target t = { capture, process, trigger, LIBJVM_INIT };
	const struct mapping *mapping;
	int r = open_library(&t, &mapping, err);

	for (uint32_t step = 0; step < count && r == 0; step++) {
		if (addresses[step] < mapping->start || addresses[step] >= mapping->end)
			r = err_set(err, -ENODATA, "a function of process %u is not in its library",
				    process->pid);
		else
			r = add_place(&t, WIRE_USDT_FORM(step, 0),
				      addresses[step] - mapping->start + mapping->pgoff, err);
	}
	libjvm_close(&t.lib);
	return r;
}
