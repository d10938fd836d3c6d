// SPDX-License-Identifier: Apache-2.0
#include "profile/roots.h"

#include <string.h>

#include "profile/title.h"

enum root_kind { ROOT_UNSEEN, ROOT_NONE, ROOT_OTHER, ROOT_START };

/*
 * The entries of programs and of ld.so; clone()'s children in glibc and musl; makecontext()'s coroutines; Go's first
 * frames (runtime/asm_amd64.s, sys_linux_amd64.s), and those of its scheduler when it has left a goroutine for good
 * (traceback.go, topofstack()); what hostprof calls the first frame when it has no name.
 */
static const char *const starts[] = {
	"_start",
	"_dl_start_user",
	"clone",
	"clone3",
	"__clone",
	"__clone3",
	"__start_context",
	"runtime.goexit",
	"runtime.mstart",
	"runtime.rt0_go",
	"runtime.clone",
	"runtime.mcall",
	"runtime.morestack",
	"_rt0_amd64",
	"_rt0_amd64_linux",
	"[thread start]",
	"[process start]",
};

/* Up to ".abi0", as Go's assembly has it, or a symbol's version. */
static bool is_start(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(starts); i++) {
		size_t len = strlen(starts[i]);

		if (!strncmp(name, starts[i], len) &&
		    (!name[len] || name[len] == '@' || !strcmp(name + len, ".abi0")))
			return true;
	}
	return false;
}

/* The kernel's frames and a class alone are no user stack; an end with a reason is no root. */
static enum root_kind kind_of(const struct profile *p, const struct profile_frame *frame)
{
	const char *name = profile_get_string(p, frame->name);

	switch (frame->kind) {
	case FRAME_KERNEL:
	case FRAME_RECEIVER:
	case FRAME_COMPILING:
	case FRAME_CLASS:
	case FRAME_CLASS_OUTSIDE: return ROOT_NONE;
	case FRAME_MARK:
		if (!is_start(name))
			return ROOT_NONE;
		return ROOT_START;
	case FRAME_NATIVE:
	case FRAME_CPP: return is_start(name) ? ROOT_START : ROOT_OTHER;
	default: return ROOT_OTHER;
	}
}

static enum root_kind root_of(const struct profile *p, uint32_t stack, uint8_t *seen)
{
	struct profile_stack frames = profile_get_stack(p, stack);
	uint32_t root;

	/* What a thread compiles stands behind what it began with. */
	while (frames.len &&
	       profile_get_frame(p, frames.frames[frames.len - 1])->kind == FRAME_COMPILING)
		frames.len--;
	if (!frames.len)
		return ROOT_NONE;
	root = frames.frames[frames.len - 1];
	if (seen[root] == ROOT_UNSEEN)
		seen[root] = (uint8_t)kind_of(p, profile_get_frame(p, root));
	return (enum root_kind)seen[root];
}

/* Those of no process come last. */
static struct root_sum *sum_of(const struct profile_roots *roots, uint32_t event, uint32_t process)
{
	return &roots->sums[(size_t)event * (roots->processes + 1) +
			    MIN(process, roots->processes)];
}

void profile_roots_init(struct profile_roots *roots, const struct profile *p)
{
	_cleanup_free_ uint8_t *seen = xcalloc(intern_len(&p->frames) + 1, sizeof(*seen));
	const struct profile_sample *s;

	roots->events = intern_len(&p->events);
	roots->processes = intern_len(&p->processes);
	roots->sums =
		xcalloc((size_t)roots->events * (roots->processes + 1) + 1, sizeof(*roots->sums));
	vec_for_each (s, &p->samples) {
		enum root_kind kind = root_of(p, s->stack, seen);
		struct root_sum *sum = sum_of(roots, s->event, profile_process_of(p, s->thread));

		if (kind == ROOT_NONE)
			continue;
		sum->stacks += s->count;
		sum->starts += kind == ROOT_START ? s->count : 0;
	}
}

void profile_roots_release(struct profile_roots *roots)
{
	free(roots->sums);
	roots->sums = NULL;
}

struct root_sum profile_roots_get(const struct profile_roots *roots, uint32_t event,
				  uint32_t process)
{
	if (event >= roots->events)
		return (struct root_sum){ 0, 0 };
	return *sum_of(roots, event, process);
}
