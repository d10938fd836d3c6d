/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: timed_stacks RECORDING
 * Every sample as a line: its time (CLOCK_MONOTONIC, ns), pid, and frames, root first and separated
 * by semicolons.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "profile/frame_kind.h"
#include "recording/recording.h"

static void print_sample(const struct profile *p, const struct profile_sample *s)
{
	static const struct frame_name_options plain = { 0 };
	const struct profile_thread *thread = profile_get_thread(p, s->thread);
	struct profile_stack stack = profile_get_stack(p, s->stack);
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;

	for (uint32_t i = stack.len; i > 0; i--) {
		if (text.len)
			strbuf_addch(&text, ';');
		frame_format_name(&text, p, profile_get_frame(p, stack.frames[i - 1]), &plain);
	}
	printf("%" PRIu64 " %u %s\n", s->time_ns, profile_get_process(p, thread->process)->pid,
	       strbuf_str(&text));
}

int main(int argc, char **argv)
{
	struct recording_read_options options = { 0 };
	const struct profile_sample *s;
	struct err err = { 0 };
	struct profile p;
	bool truncated;
	int fd;

	if (argc != 2)
		return fprintf(stderr, "usage: timed_stacks RECORDING\n"), 2;
	fd = open(argv[1], O_RDONLY | O_CLOEXEC);
	profile_init(&p);
	if (fd < 0 || recording_read(fd, &options, &p, &truncated, &err))
		return fprintf(stderr, "timed_stacks: cannot read %s\n", argv[1]), 1;
	vec_for_each (s, &p.samples)
		print_sample(&p, s);
	profile_release(&p);
	close(fd);
	return 0;
}
