// SPDX-License-Identifier: Apache-2.0
/*
 * raw_trigger PID: takes a sample of this process at every sched_switch, by the kernel's own tracepoint,
 * from "ready" until its input ends; then says how many there were and how many have kernel frames.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "capture/capture.h"

struct sums {
	unsigned long samples, kernel;
};

static void count_sample(const struct wire_sample *sample, void *data)
{
	struct sums *sums = data;

	sums->samples++;
	sums->kernel += sample->kernel_frames > 0 && sample->weight == 1 && sample->event == 0;
}

static void ignore_miss(const struct wire_miss *miss, void *data)
{
	(void)miss;
	(void)data;
}

static void ignore_side(const struct side_event *event, void *data)
{
	(void)event;
	(void)data;
}

static void tell_invalid(const void *record, size_t len, void *data)
{
	(void)record;
	(void)data;
	fprintf(stderr, "a record of %zu bytes is not well-formed\n", len);
}

int main(int argc, char **argv)
{
	uint32_t pid = argc > 1 ? (uint32_t)atoi(argv[1]) : 0;
	const struct capture_event event = {
		.name = "switches", .unit = "count", .period = 1, .trigger = WIRE_TRIGGER_RAW
	};
	const struct capture_options options = {
		.events = &event, .event_count = 1, .pids = &pid, .pid_count = 1
	};
	struct sums sums = { 0 };
	const struct capture_handler handler = { .miss = ignore_miss,
						 .sample = count_sample,
						 .side = ignore_side,
						 .invalid = tell_invalid,
						 .data = &sums };
	struct capture *capture;
	struct err err = { 0 };

	if (capture_open(&options, &capture, &err) < 0 || capture_wait(capture, &err) < 0) {
		fprintf(stderr, "%s\n%s\n", err.text, err.hint);
		return 1;
	}
	capture_start(capture);
	puts("ready");
	fflush(stdout);
	while (getchar() != EOF)
		;
	capture_stop(capture);
	capture_drain(capture, &handler);
	printf("%lu samples, %lu with kernel frames\n", sums.samples, sums.kernel);
	capture_free(capture);
	return 0;
}
