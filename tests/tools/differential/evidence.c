// SPDX-License-Identifier: Apache-2.0
#include "evidence.h"

#include <string.h>

#include "code_files.h"

static bool describes(void *data, uint64_t address)
{
	struct witnesses *w = data;

	return dwfl_walk_describes(w->dwfl, address);
}

static bool ends(void *data, uint64_t address)
{
	struct witnesses *w = data;

	return dwfl_walk_ends(w->dwfl, address);
}

/* "runtime.mcall", "runtime.mcall.abi0" */
static bool is_named(struct witnesses *w, uint64_t address, const char *const *names, size_t count)
{
	const char *symbol = dwfl_walk_symbol(w->dwfl, address);

	for (size_t i = 0; symbol && i < count; i++) {
		size_t len = strlen(names[i]);

		if (strncmp(symbol, names[i], len) == 0 && (!symbol[len] || symbol[len] == '.'))
			return true;
	}
	return false;
}

/*
 * Functions of Go's runtime that go on on another stack: src/runtime/asm_amd64.s, for the vDSO
 * sys_linux_amd64.s. Their call frame information describes the one that they left.
 */
static bool switches(void *data, uint64_t address)
{
	static const char *const names[] = {
		"runtime.systemstack", "runtime.mcall", "runtime.morestack", "runtime.asmcgocall",
		"runtime.cgocallback", "runtime.gogo",	"runtime.nanotime1", "runtime.walltime",
	};

	return is_named(data, address, names, ARRAY_SIZE(names));
}

/* Those that are marked TOPFRAME there: no caller is below. */
static bool begins(void *data, uint64_t address)
{
	static const char *const names[] = { "runtime.mstart", "runtime.goexit", "runtime.rt0_go" };

	return is_named(data, address, names, ARRAY_SIZE(names));
}

static bool is_code(void *data, uint64_t address)
{
	struct witnesses *w = data;

	return process_find_mapping(w->snapshot->process, address) != NULL;
}

static bool restores(void *data, uint64_t address)
{
	static const char *const names[] = { "runtime.sigreturn__sigaction" };

	return is_named(data, address, names, ARRAY_SIZE(names));
}

/* Intel SDM, CALL: e8 and four bytes; ff /2 with up to a SIB byte and four of displacement. */
static bool is_return(void *data, uint64_t address)
{
	struct witnesses *w = data;
	uint8_t code[8];

	/* Code without a file is not there any more. */
	if (code_read(w->snapshot->process, address - sizeof(code), code, sizeof(code)) < 0)
		return is_code(data, address - 1);
	if (code[3] == 0xe8)
		return true;
	for (int len = 2; len <= 7; len++)
		if (code[8 - len] == 0xff && (code[9 - len] >> 3 & 7) == 2)
			return true;
	return false;
}

static bool second(void *data, struct frames *ret_frames)
{
	static struct frames by_gdb;
	struct witnesses *w = data;

	if (!w->second && !w->gdb_asked && w->gdb &&
	    gdb_walk_ask(w->gdb, w->snapshot, &by_gdb) == 0)
		w->second = &by_gdb;
	w->gdb_asked = true;
	if (w->second)
		*ret_frames = *w->second;
	return w->second != NULL;
}

struct evidence evidence_of(struct witnesses *witnesses)
{
	return (struct evidence){ .describes = describes,
				  .ends = ends,
				  .switches = switches,
				  .begins = begins,
				  .restores = restores,
				  .is_code = is_code,
				  .is_return = is_return,
				  .second = second,
				  .data = witnesses };
}
