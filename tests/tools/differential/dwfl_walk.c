// SPDX-License-Identifier: Apache-2.0
#include "dwfl_walk.h"

#include <dwarf.h>
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
	frames->exact[frames->count] = activation;
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

/* --- what libdw says of an address ------------------------------------------------------------ */

/* The caller frees it; NULL: there is nothing. */
static Dwarf_Frame *frame_of(Dwarf_CFI *cfi, uint64_t address)
{
	Dwarf_Frame *frame;

	return cfi && dwarf_cfi_addrframe(cfi, address, &frame) == 0 ? frame : NULL;
}

static Dwarf_Frame *find_frame(struct dwfl_walk *walk, uint64_t address)
{
	Dwfl_Module *module = dwfl_addrmodule(walk->dwfl, address);
	Dwarf_Frame *frame;
	Dwarf_Addr bias;
	Dwarf_CFI *cfi;

	if (!module)
		return NULL;
	cfi = dwfl_module_eh_cfi(module, &bias);
	frame = frame_of(cfi, address - bias);
	if (frame)
		return frame;
	cfi = dwfl_module_dwarf_cfi(module, &bias);
	return frame_of(cfi, address - bias);
}

bool dwfl_walk_describes(struct dwfl_walk *walk, uint64_t address)
{
	Dwarf_Frame *frame = find_frame(walk, address);

	free(frame);
	return frame != NULL;
}

bool dwfl_walk_ends(struct dwfl_walk *walk, uint64_t address)
{
	Dwarf_Frame *frame = find_frame(walk, address);
	Dwarf_Op memory[3], *ops = NULL;
	size_t count = 1;
	bool ends = false;

	/* No operations, but a place for them: undefined (dwarf_frame_register(3)). */
	if (frame && dwarf_frame_register(frame, dwarf_frame_info(frame, NULL, NULL, NULL), memory,
					  &ops, &count) == 0)
		ends = count == 0 && ops == memory;
	free(frame);
	return ends;
}

const char *dwfl_walk_symbol(struct dwfl_walk *walk, uint64_t address)
{
	Dwfl_Module *module = dwfl_addrmodule(walk->dwfl, address);

	return module ? dwfl_module_addrname(module, address) : NULL;
}

/* --- red zone --------------------------------------------------------------------------------- */

/* A register and an offset, or false. */
static bool find_cfa(Dwarf_Frame *frame, const struct snapshot *s, uint64_t *ret_cfa)
{
	Dwarf_Op *ops;
	size_t count;

	if (dwarf_frame_cfa(frame, &ops, &count) != 0 || count != 1 || ops[0].atom != DW_OP_bregx ||
	    ops[0].number > 15)
		return false;
	*ret_cfa = s->regs[ops[0].number] + ops[0].number2;
	return true;
}

static void note_saved(Dwarf_Frame *frame, struct snapshot *s, uint64_t cfa, int reg)
{
	Dwarf_Op memory[3], *ops;
	uint64_t address, depth;
	size_t count;

	if (dwarf_frame_register(frame, reg, memory, &ops, &count) != 0 || count != 2 ||
	    ops[0].atom != DW_OP_call_frame_cfa || ops[1].atom != DW_OP_plus_uconst)
		return;
	address = cfa + ops[1].number;
	depth = (s->regs[DWARF_RSP] - address) / 8;
	if (address >= s->regs[DWARF_RSP] || depth > RED_ZONE_WORDS)
		return;
	s->red_zone[RED_ZONE_WORDS - depth] = s->regs[reg];
	s->red_zone_known[RED_ZONE_WORDS - depth] = true;
}

void dwfl_walk_fill_red_zone(struct dwfl_walk *walk, struct snapshot *s)
{
	static const int kept[] = { 3, 6, 12, 13, 14, 15 };
	Dwarf_Frame *frame;
	uint64_t cfa;

	use_process(walk, s->process);
	frame = find_frame(walk, s->pc);
	if (frame && find_cfa(frame, s, &cfa))
		for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
			note_saved(frame, s, cfa, kept[i]);
	free(frame);
}
