/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: scale_judge RECORDING COMM ORIGIN_NS AFTER_MS [SHOW]
 * Judges every sample of tests/workloads/scale.c (run as COMM) by what its code does: the frames
 * of a chain follow from its first one, and below it lie take_turn, run_turns, main, the C
 * library's two and _start. Prints figures as JSON, times from ORIGIN_NS (CLOCK_MONOTONIC) on;
 * samples before AFTER_MS are counted apart. With SHOW, so many broken stacks on standard error.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recording/recording.h"
#include "scale_code.h"

/* UNNAMED: whole, but a file was not read when it was needed: no symbols, or file offsets. */
enum verdict { WHOLE, UNNAMED, BROKEN, NO_USER_STACK };

/* Samples of one part of the recording. */
struct tally {
	uint64_t samples, whole, unnamed, in_chains, frames, kernel_only;
};

struct judge {
	struct profile p;
	const char *comm;
	uint64_t origin_ns, after_ns;
	uint64_t first_ns, first_whole_ns; /* times of samples; 0: none yet */
	struct tally early, late;
	unsigned int show;
};

static const struct profile_frame *frame_at(const struct judge *j, struct profile_stack stack,
					    uint32_t at)
{
	return profile_get_frame(&j->p, stack.frames[at]);
}

static const char *frame_name(const struct judge *j, struct profile_stack stack, uint32_t at)
{
	return profile_get_string(&j->p, frame_at(j, stack, at)->name);
}

/* Of a file that was not read in time the address is a file offset: what it means then. */
struct chain_frame {
	struct scale_file file;
	uint32_t function, raw_function;
};

static bool is_chain_frame(const struct judge *j, const struct profile_frame *frame,
			   struct chain_frame *ret_frame)
{
	struct scale_file *file = &ret_frame->file;
	const char *path, *slash;

	if (frame->kind == FRAME_KERNEL || frame->mapping == PROFILE_NONE)
		return false;
	path = profile_get_string(&j->p, profile_get_mapping(&j->p, frame->mapping)->path);
	slash = strrchr(path, '/');
	if (!scale_file_of(slash ? slash + 1 : path, file))
		return false;
	ret_frame->function = (uint32_t)((frame->address - scale_text_address(*file)) / SCALE_SLOT);
	ret_frame->raw_function =
		(uint32_t)((frame->address - scale_text_offset(*file)) / SCALE_SLOT);
	return true;
}

/* CALLER's code calls CALLEE's; *unnamed when that is true of file offsets only. */
static bool is_call(const struct chain_frame *caller, const struct chain_frame *callee,
		    bool *unnamed)
{
	uint32_t next = scale_next(caller->file, caller->function);
	uint32_t raw_next = scale_next(caller->file, caller->raw_function);

	if (caller->file.number != callee->file.number)
		return false;
	if (caller->function < caller->file.count && next == callee->function)
		return true;
	*unnamed = true;
	return next == callee->raw_function || raw_next == callee->function ||
	       raw_next == callee->raw_function;
}

/* The frames that are generated code, from AT on; 0 also when one does not follow from the next. */
static uint32_t chain_length(const struct judge *j, struct profile_stack stack, uint32_t at,
			     bool *unnamed)
{
	struct chain_frame frame, callee = { .function = 0 };
	uint32_t begin = at;

	for (; at < stack.len; at++) {
		if (!is_chain_frame(j, frame_at(j, stack, at), &frame))
			break;
		if (at > begin && !is_call(&frame, &callee, unnamed))
			return 0;
		callee = frame;
	}
	return at - begin;
}

/* A frame of the program itself that is NAME; without symbols it has none. */
static bool is_frame(const struct judge *j, struct profile_stack stack, uint32_t at,
		     const char *name, bool *unnamed)
{
	const char *have = frame_name(j, stack, at);

	if (!strcmp(have, name))
		return true;
	*unnamed = true;
	return !*have || !strcmp(have, "[process start]");
}

static bool is_libc(const struct judge *j, struct profile_stack stack, uint32_t at)
{
	uint32_t mapping = frame_at(j, stack, at)->mapping;
	const char *path;

	if (mapping == PROFILE_NONE)
		return false;
	path = profile_get_string(&j->p, profile_get_mapping(&j->p, mapping)->path);
	return strstr(path, "/libc.so.") || strstr(path, "/libc-");
}

/* take_turn, run_turns, main, two of the C library, _start: from AT up to the stack's end. */
static bool is_below_chain(const struct judge *j, struct profile_stack stack, uint32_t at,
			   bool *unnamed)
{
	static const char *const names[] = { "take_turn", "run_turns", "main" };

	if (stack.len - at != 6)
		return false;
	for (uint32_t i = 0; i < 3; i++)
		if (!is_frame(j, stack, at + i, names[i], unnamed))
			return false;
	return is_libc(j, stack, at + 3) && is_libc(j, stack, at + 4) &&
	       is_frame(j, stack, at + 5, "_start", unnamed);
}

/* Of code that is not ours only the end is known: the program's or the dynamic linker's _start. */
static bool ends_at_start(const struct judge *j, struct profile_stack stack)
{
	const char *name = frame_name(j, stack, stack.len - 1);

	return !strcmp(name, "[process start]") || !strcmp(name, "_start") ||
	       !strcmp(name, "_dl_start_user");
}

static enum verdict judge_chain(const struct judge *j, struct profile_stack stack, uint32_t at,
				uint32_t *ret_chain)
{
	bool unnamed = false;

	*ret_chain = chain_length(j, stack, at, &unnamed);
	if (!*ret_chain || *ret_chain > SCALE_MAX_CHAIN ||
	    !is_below_chain(j, stack, at + *ret_chain, &unnamed))
		return BROKEN;
	return unnamed ? UNNAMED : WHOLE;
}

static enum verdict judge_stack(const struct judge *j, struct profile_stack stack,
				uint32_t *ret_chain)
{
	struct chain_frame frame;
	uint32_t at = 0;

	*ret_chain = 0;
	while (at < stack.len && frame_at(j, stack, at)->kind == FRAME_KERNEL)
		at++;
	if (at == stack.len)
		return NO_USER_STACK;
	if (is_chain_frame(j, frame_at(j, stack, at), &frame))
		return judge_chain(j, stack, at, ret_chain);
	return ends_at_start(j, stack) ? WHOLE : BROKEN;
}

static void show_stack(struct judge *j, const struct profile_sample *s, struct profile_stack stack)
{
	if (!j->show)
		return;
	j->show--;
	fprintf(stderr, "pid %u, broken at %+.3f s:",
		profile_get_process(&j->p, profile_get_thread(&j->p, s->thread)->process)->pid,
		(double)(s->time_ns - j->origin_ns) / 1e9);
	for (uint32_t i = 0; i < stack.len; i++) {
		const struct profile_frame *f = frame_at(j, stack, i);
		const char *path =
			f->mapping == PROFILE_NONE
				? ""
				: profile_get_string(&j->p,
						     profile_get_mapping(&j->p, f->mapping)->path);
		const char *slash = strrchr(path, '/');

		fprintf(stderr, " %s[%s+%#" PRIx64 "]", frame_name(j, stack, i),
			slash ? slash + 1 : path, f->address);
	}
	fprintf(stderr, "\n");
}

static void judge_sample(struct judge *j, const struct profile_sample *s)
{
	struct tally *tally = s->time_ns < j->origin_ns + j->after_ns ? &j->early : &j->late;
	struct profile_stack stack = profile_get_stack(&j->p, s->stack);
	uint32_t chain = 0;
	enum verdict verdict = judge_stack(j, stack, &chain);

	if (verdict == NO_USER_STACK) {
		tally->kernel_only += s->count;
		return;
	}
	tally->samples += s->count;
	tally->frames += s->count * stack.len;
	tally->in_chains += chain ? s->count : 0;
	if (!j->first_ns || s->time_ns < j->first_ns)
		j->first_ns = s->time_ns;
	if (verdict == BROKEN) {
		show_stack(j, s, stack);
		return;
	}
	tally->whole += s->count;
	tally->unnamed += verdict == UNNAMED ? s->count : 0;
	if (chain && (!j->first_whole_ns || s->time_ns < j->first_whole_ns))
		j->first_whole_ns = s->time_ns;
}

static bool is_ours(const struct judge *j, const struct profile_sample *s)
{
	const struct profile_thread *t = profile_get_thread(&j->p, s->thread);

	return !strcmp(profile_get_string(&j->p, profile_get_process(&j->p, t->process)->name),
		       j->comm);
}

static void print_tally(const char *name, const struct tally *t)
{
	printf("\"%s\": {\"samples\": %" PRIu64 ", \"whole\": %" PRIu64 ", \"unnamed\": %" PRIu64
	       ", \"in_chains\": %" PRIu64 ", \"frames\": %" PRIu64 ", \"kernel_only\": %" PRIu64
	       "}",
	       name, t->samples, t->whole, t->unnamed, t->in_chains, t->frames, t->kernel_only);
}

static double ms_after(const struct judge *j, uint64_t time_ns)
{
	return time_ns ? (double)(time_ns - j->origin_ns) / 1e6 : -1;
}

int main(int argc, char **argv)
{
	struct recording_read_options options = {};
	struct judge j = {};
	bool truncated;
	struct err err = {};
	const struct profile_sample *s;
	int fd;

	if (argc < 4)
		return fprintf(stderr, "usage: scale_judge RECORDING ORIGIN_NS AFTER_MS [SHOW]\n"),
		       2;
	fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	j.comm = argv[2];
	j.origin_ns = strtoull(argv[3], NULL, 10);
	j.after_ns = strtoull(argv[4], NULL, 10) * 1000000;
	j.show = argc > 5 ? (unsigned int)atoi(argv[5]) : 0;
	profile_init(&j.p);
	if (fd < 0 || recording_read(fd, &options, &j.p, &truncated, &err))
		return fprintf(stderr, "scale_judge: cannot read %s\n", argv[1]), 1;
	vec_for_each (s, &j.p.samples)
		if (is_ours(&j, s))
			judge_sample(&j, s);
	printf("{\"first_ms\": %.1f, \"first_whole_ms\": %.1f, ", ms_after(&j, j.first_ns),
	       ms_after(&j, j.first_whole_ns));
	print_tally("early", &j.early);
	printf(", ");
	print_tally("late", &j.late);
	printf("}\n");
	profile_release(&j.p);
	close(fd);
	return 0;
}
