/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: timed_stacks RECORDING
 * Every sample as a line "TIME COMM-PID;[THREAD tid=TID];root;…;leaf WEIGHT": its time is of CLOCK_MONOTONIC, in nanoseconds, and its frames are as
 * hostprof report --annotate --no-normalize writes them.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/strbuf.h"
#include "profile/frame_kind.h"
#include "profile/title.h"
#include "recording/recording.h"

static void print_sample(const struct profile *p, const struct profile_sample *s)
{
	static const struct frame_name_options options = { .annotate = true,
							   .names = FRAME_NAMES_EXACT };
	struct profile_stack stack = profile_get_stack(p, s->stack);
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	size_t begin;

	profile_format_process(&text, p, profile_process_of(p, s->thread));
	profile_make_plain(&text, 0);
	strbuf_addch(&text, ';');
	begin = text.len;
	profile_format_thread(&text, p, s->thread);
	profile_make_plain(&text, begin);
	for (uint32_t i = stack.len; i > 0; i--) {
		strbuf_addch(&text, ';');
		frame_format_name(&text, p, profile_get_frame(p, stack.frames[i - 1]), &options);
	}
	printf("%" PRIu64 " %s %" PRIu64 "\n", s->time_ns, strbuf_str(&text), s->weight);
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
