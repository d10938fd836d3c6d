/* SPDX-License-Identifier: Apache-2.0 */
/* `hostprof record` in a directory of its own, whose run is the test's. Included once per test. */
#ifndef HOSTPROF_TESTS_RECORD_WORLD_H
#define HOSTPROF_TESTS_RECORD_WORLD_H

#include "test.h"

#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "capture/preflight/preflight.h"
#include "cmd/cmd.h"
#include "cmd/drive/drive.h"
#include "command_run.h"
#include "view_fixture.h"

#define STACKS_AND_LOSSES \
	"2 processes, 0 JVMs, 83.33 % complete stacks, 1 lost (1 of unknown processes)"
#define LAST	  "12 cpu samples, 1 alloc sample (4 kB), 1 live sample (1 kB), " STACKS_AND_LOSSES
#define LAST_LINE LAST "\n"
/* Of bytes in place of a recording. */
#define NO_EVENTS "12 samples, " STACKS_AND_LOSSES "\n"

static char dir[] = "/tmp/hostprof-test-XXXXXX";
static int preflight_error, run_error;
static bool nothing_taken, shows_progress, is_killed;
static const char *held;   /* this file is, while it runs */
static size_t plain_bytes; /* of a run that writes such in place of a recording */
static struct recorder_result result;
static struct drive_progress progress;

/* --- in place of capture/ and session/ --- */

static bool is_hurried;

void drive_hurry(char *const *command)
{
	is_hurried = !command || command[0];
}

int preflight_explain(struct err *err)
{
	assert_true(is_hurried);
	return preflight_error ? err_set(err, preflight_error, "not on this host") : 0;
}

static void write_recording(const struct sinks *sinks)
{
	struct err err = { 0 };
	struct profile p;

	view_fixture_init(&p);
	assert_int_equal(sinks_flush(sinks, &p, &err), 0);
	if (sinks_want_rotation(sinks, &p))
		printf("a chunk ends\n");
	assert_int_equal(sinks_end(sinks, &p, &(struct sink_sums){ 0 }, &err), 0);
	profile_release(&p);
}

/* Into the recording, which is the only empty file that is open for reading and writing. */
static void write_plain(void)
{
	uint32_t *words = calloc(1, plain_bytes);
	struct stat st;
	int fd = 0;

	for (int i = 3; i < 64; i++)
		if (!fstat(i, &st) && S_ISREG(st.st_mode) && !st.st_size &&
		    (fcntl(i, F_GETFL) & O_ACCMODE) == O_RDWR)
			fd = i;
	assert_true(fd > 0);
	for (uint32_t i = 0; i < plain_bytes / 4; i++)
		words[i] = i;
	assert_int_equal(file_write_all(fd, words, plain_bytes), 0);
	free(words);
}

static void expect_held(void)
{
	int fd = open(held, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(flock(fd, LOCK_EX | LOCK_NB), -1);
	close(fd);
}

int drive_run(const struct drive_options *options, struct recorder_result *ret_result,
	      struct err *err)
{
	if (options->progress && shows_progress)
		options->progress(&progress);
	else if (options->progress)
		printf("progress is wanted\n");
	if (plain_bytes)
		write_plain();
	else if (!nothing_taken)
		write_recording(&options->recorder.sinks);
	if (held)
		expect_held();
	if (is_killed)
		kill(getpid(), SIGKILL);
	*ret_result = result;
	return run_error ? err_set(err, run_error, "it broke") : 0;
}

static inline int set_up(void **state)
{
	(void)state;
	preflight_error = run_error = 0;
	is_hurried = false;
	nothing_taken = shows_progress = is_killed = false;
	held = NULL;
	plain_bytes = 0;
	result = (struct recorder_result){
		.samples = 12, .complete = 10, .processes = 2, .lost = 1
	};
	result.capture.counters[WIRE_COUNTER_LOST_UNKNOWN] = 1;
	return 0;
}

/* --- what is in DIR --- */

/* All names, and of none a rest of an output; then DIR is empty. */
static inline const char *names_left(void)
{
	static char names[512];
	glob_t all;

	names[0] = 0;
	assert_true(glob("*", GLOB_PERIOD, NULL, &all) == 0);
	for (size_t i = 0; i < all.gl_pathc; i++) {
		if (all.gl_pathv[i][0] == '.' && strlen(all.gl_pathv[i]) <= 2)
			continue;
		snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s ",
			 all.gl_pathv[i]);
		unlink(all.gl_pathv[i]);
	}
	globfree(&all);
	return names;
}

#define expect(line, wanted) assert_string_equal(command_run(cmd_record, line), wanted)

static inline int make_dir(void **state)
{
	(void)state;
	return !mkdtemp(dir) || chdir(dir) || setenv("TMPDIR", dir, 1);
}

static inline int remove_dir(void **state)
{
	(void)state;
	return chdir("/") || rmdir(dir);
}

#endif
