/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: timed_stacks RECORDING
 *        timed_stacks RECORDING FROM TO
 * Every sample as a line: its time (CLOCK_MONOTONIC, ns), pid, and frames, root first and separated
 * by semicolons. Or those from FROM on and before TO, as "COMM-PID;[THREAD tid=TID];root;…;leaf WEIGHT", with the frames as hostprof report --annotate
 * --no-normalize writes them.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "profile/frame_kind.h"
#include "profile/title.h"
#include "recording/recording.h"

static void add_frames(struct strbuf *text, const struct profile *p, uint32_t id,
		       const struct frame_name_options *options)
{
	struct profile_stack stack = profile_get_stack(p, id);

	for (uint32_t i = stack.len; i > 0; i--) {
		if (text->len)
			strbuf_addch(text, ';');
		frame_format_name(text, p, profile_get_frame(p, stack.frames[i - 1]), options);
	}
}

static void print_sample(const struct profile *p, const struct profile_sample *s)
{
	static const struct frame_name_options plain = { 0 };
	const struct profile_thread *thread = profile_get_thread(p, s->thread);
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	add_frames(&text, p, s->stack, &plain);
	printf("%" PRIu64 " %u %s\n", s->time_ns, profile_get_process(p, thread->process)->pid,
	       strbuf_str(&text));
}

static void print_weighed(const struct profile *p, const struct profile_sample *s)
{
	static const struct frame_name_options whole = { .annotate = true,
							 .names = FRAME_NAMES_EXACT };
	const struct profile_thread *thread = profile_get_thread(p, s->thread);
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	size_t begin;

	profile_format_process(&text, p, thread->process);
	profile_make_plain(&text, 0);
	strbuf_addch(&text, ';');
	begin = text.len;
	profile_format_thread(&text, p, s->thread);
	profile_make_plain(&text, begin);
	add_frames(&text, p, s->stack, &whole);
	printf("%s %" PRIu64 "\n", strbuf_str(&text), s->weight);
}

static int print_all(const char *path, const uint64_t *range)
{
	struct recording_read_options options = { 0 };
	const struct profile_sample *s;
	struct err err = { 0 };
	struct profile p;
	bool truncated;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	profile_init(&p);
	if (fd < 0 || recording_read(fd, &options, &p, &truncated, &err))
		return fprintf(stderr, "timed_stacks: cannot read %s\n", path), 1;
	vec_for_each (s, &p.samples) {
		if (!range)
			print_sample(&p, s);
		else if (s->time_ns >= range[0] && s->time_ns < range[1])
			print_weighed(&p, s);
	}
	profile_release(&p);
	close(fd);
	return 0;
}

int main(int argc, char **argv)
{
	uint64_t range[2];

	if (argc != 2 && argc != 4)
		return fprintf(stderr, "usage: timed_stacks RECORDING [FROM TO]\n"), 2;
	for (int i = 0; i < argc - 2; i++)
		range[i] = strtoull(argv[2 + i], NULL, 10);
	return print_all(argv[1], argc == 4 ? range : NULL);
}
