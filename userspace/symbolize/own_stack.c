// SPDX-License-Identifier: Apache-2.0
/*
 * Code of runtimes that keep its frames on a stack of their own, which %rsp does not point to and no row describes: a walk ends
 * in it, and what stands there is called what it is.
 */
#include <string.h>

#include "base/file.h"
#include "base/macros.h"
#include "symbolize/symbolizer_private.h"

/* Files that have code of Haskell's: of a large host's programs. */
#define MAX_HASKELL 64

/* Of GHC's symbols, which are encoded as compiler/GHC/Utils/Encoding.hs says; "stg_" are its runtime's in Cmm (rts/StgStdThunks.cmm and others). */
static bool is_haskell_name(const char *name)
{
	static const char *const ends[] = { "_info", "_entry", "_ret", "_slow", "_fast" };
	const size_t len = strlen(name);

	if (!strncmp(name, "stg_", 4) || !strncmp(name, "__stg_", 6))
		return true;
	/* A module's name begins with a capital, a package's is followed by one; local ones have a letter and a number. */
	if (!strstr(name, "zi") && !strstr(name, "zd") && !(name[0] >= 'A' && name[0] <= 'Z'))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(ends); i++) {
		const size_t end = strlen(ends[i]);

		if (len > end && !strcmp(name + len - end, ends[i]))
			return true;
	}
	return false;
}

static const char *path_of(const struct profile *p, const struct profile_frame *frame)
{
	if (frame->mapping == PROFILE_NONE)
		return "";
	return profile_get_string(p, profile_get_mapping(p, frame->mapping)->path);
}

static bool has_haskell(const struct symbolizer *symbolizer, uint32_t mapping)
{
	const uint32_t *known;

	vec_for_each (known, &symbolizer->haskell)
		if (*known == mapping)
			return true;
	return false;
}

static void note_haskell(struct symbolizer *symbolizer, uint32_t mapping)
{
	if (mapping != PROFILE_NONE && symbolizer->haskell.len < MAX_HASKELL &&
	    !has_haskell(symbolizer, mapping))
		vec_push(&symbolizer->haskell, mapping);
}

/*
 * The libraries that GHC links are called libHSpackage-version-ghcVERSION.so. Half of what it links into a program has no symbol:
 * others of the same file have told.
 */
static bool is_haskell(struct symbolizer *symbolizer, const struct profile *p,
		       const struct profile_frame *frame)
{
	const char *file = file_name_of(path_of(p, frame)),
		   *name = profile_get_string(p, frame->name);

	if (!strncmp(file, "libHS", 5) && strstr(file, "-ghc"))
		return true;
	if (!*name)
		return has_haskell(symbolizer, frame->mapping);
	if (!is_haskell_name(name))
		return false;
	note_haskell(symbolizer, frame->mapping);
	return true;
}

/* What the emulator of Erlang makes of modules lies in no file, or in one of memory. */
static bool is_erlang(const struct stack_build *build, const struct profile_frame *frame)
{
	const char *path = path_of(build->profile, frame);

	return build->process->exe && !strcmp(file_name_of(build->process->exe), "beam.smp") &&
	       (!*path || *path == '[' || !strncmp(path, "/memfd:", 7));
}

const char *own_stack_of(const struct stack_build *build)
{
	struct symbolizer *symbolizer = build->symbolizer;
	const struct profile *p = build->profile;
	const struct profile_frame *frame;

	if (!symbolizer->frames.len || build->is_raw)
		return NULL;
	frame = profile_get_frame(p, symbolizer->frames.items[symbolizer->frames.len - 1]);
	if (frame->kind != FRAME_NATIVE && frame->kind != FRAME_JIT_OTHER)
		return NULL;
	if (is_erlang(build, frame))
		return "[Erlang stack]";
	return is_haskell(symbolizer, p, frame) ? "[Haskell stack]" : NULL;
}
