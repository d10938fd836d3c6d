// SPDX-License-Identifier: Apache-2.0
#include "dwfl_walk.h"

#include <elfutils/libdwfl.h>
#include <string.h>

#include "code_files.h"

struct dwfl_walk {
	Dwfl *dwfl;
	/* Whose mappings it was made of. */
	const struct process *process;
	uint64_t mappings_serial;
	const struct snapshot *snapshot; /* of the walk under way */
	struct frames *frames;
};

static struct dwfl_walk *under_way;

/* Call frame information of the file itself only, as hostprof has it. */
static int find_no_debuginfo(Dwfl_Module *module, void **userdata, const char *name,
			     Dwarf_Addr base, const char *file_name, const char *debuglink,
			     GElf_Word crc, char **ret_name)
{
	(void)module, (void)userdata, (void)name, (void)base;
	(void)file_name, (void)debuglink, (void)crc, (void)ret_name;
	return -1;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = find_no_debuginfo,
	.section_address = dwfl_offline_section_address,
};

struct dwfl_walk *dwfl_walk_new(void)
{
	return xcalloc(1, sizeof(struct dwfl_walk));
}

void dwfl_walk_free(struct dwfl_walk *walk)
{
	if (!walk)
		return;
	if (walk->dwfl)
		dwfl_end(walk->dwfl);
	free(walk);
}

/* --- what libdwfl asks for -------------------------------------------------------------------- */

static pid_t next_thread(Dwfl *dwfl, void *arg, void **thread)
{
	struct dwfl_walk *walk = arg;

	(void)dwfl;
	if (*thread)
		return 0;
	*thread = arg;
	return (pid_t)walk->process->pid;
}

static bool get_thread(Dwfl *dwfl, pid_t tid, void *arg, void **thread)
{
	(void)dwfl, (void)tid;
	*thread = arg;
	return true;
}

static bool read_word(Dwfl *dwfl, Dwarf_Addr address, Dwarf_Word *ret_word, void *arg)
{
	const struct snapshot *s = under_way->snapshot;

	(void)dwfl, (void)arg;
	if (snapshot_read(s, address, ret_word, 8, &under_way->frames->cut) == 0)
		return true;
	return code_read(s->process, address, ret_word, 8) == 0;
}

static bool set_registers(Dwfl_Thread *thread, void *arg)
{
	const struct snapshot *s = under_way->snapshot;
	Dwarf_Word regs[17];

	(void)arg;
	for (int i = 0; i < 16; i++)
		regs[i] = s->regs[i];
	regs[16] = s->pc;
	return dwfl_thread_state_registers(thread, 0, 17, regs);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = read_word,
	.set_initial_registers = set_registers,
};

static int take_frame(Dwfl_Frame *state, void *arg)
{
	struct frames *frames = arg;
	Dwarf_Addr pc;
	bool activation;

	if (!dwfl_frame_pc(state, &pc, &activation) || frames->count == MAX_FRAMES)
		return DWARF_CB_ABORT;
	/* Its way to say that there is no caller. */
	if (pc == 0 && frames->count)
		return DWARF_CB_ABORT;
	frames->pcs[frames->count++] = pc;
	return DWARF_CB_OK;
}

/* --- walk ------------------------------------------------------------------------------------- */

/*
 * A file that is linked to its addresses and mapped again at others (V8 has its builtins twice)
 * cannot be told to libdwfl, which takes it for where it was linked to.
 */
static bool is_reportable(const struct code_file *file, uint64_t bias)
{
	Elf64_Ehdr header;

	memcpy(&header, file->bytes, sizeof(header));
	return bias == 0 || header.e_type != ET_EXEC;
}

/* Was it reported for a mapping before M? Once more would take the module away. */
static bool is_reported(const struct process *process, const struct mapping *m,
			const struct code_file *file, uint64_t bias)
{
	uint64_t other;

	for (const struct mapping *o = process->mappings.items; o < m; o++)
		if (code_file_get(o) == file && code_file_bias(file, o, &other) && other == bias)
			return true;
	return false;
}

static void report_files(struct dwfl_walk *walk, const struct process *process)
{
	const struct mapping *m;

	dwfl_report_begin(walk->dwfl);
	vec_for_each (m, &process->mappings) {
		const struct code_file *file = code_file_get(m);
		uint64_t bias;

		if (file && code_file_bias(file, m, &bias) && is_reportable(file, bias) &&
		    !is_reported(process, m, file, bias))
			dwfl_report_elf(walk->dwfl, file->path, file->path, -1, bias, true);
	}
	dwfl_report_end(walk->dwfl, NULL, NULL);
}

static void use_process(struct dwfl_walk *walk, const struct process *process)
{
	if (walk->process == process && walk->mappings_serial == process->mappings_serial)
		return;
	if (walk->dwfl)
		dwfl_end(walk->dwfl);
	walk->process = process;
	walk->mappings_serial = process->mappings_serial;
	walk->dwfl = dwfl_begin(&callbacks);
	report_files(walk, process);
	dwfl_attach_state(walk->dwfl, NULL, (pid_t)process->pid, &thread_callbacks, walk);
}

int dwfl_walk_frames(struct dwfl_walk *walk, const struct snapshot *snapshot,
		     struct frames *ret_frames)
{
	ret_frames->count = 0;
	ret_frames->cut = false;
	walk->snapshot = snapshot;
	walk->frames = ret_frames;
	under_way = walk;
	use_process(walk, snapshot->process);
	if (dwfl_getthread_frames(walk->dwfl, (pid_t)snapshot->process->pid, take_frame,
				  ret_frames) == 0)
		return 0;
	return dwfl_errno() ?: -1;
}

static bool has_record(Dwarf_CFI *cfi, uint64_t address)
{
	Dwarf_Frame *frame;

	if (!cfi || dwarf_cfi_addrframe(cfi, address, &frame) != 0)
		return false;
	free(frame);
	return true;
}

bool dwfl_walk_describes(struct dwfl_walk *walk, uint64_t address)
{
	Dwfl_Module *module = dwfl_addrmodule(walk->dwfl, address);
	Dwarf_Addr bias;
	Dwarf_CFI *cfi;

	if (!module)
		return false;
	cfi = dwfl_module_eh_cfi(module, &bias);
	if (has_record(cfi, address - bias))
		return true;
	cfi = dwfl_module_dwarf_cfi(module, &bias);
	return has_record(cfi, address - bias);
}
