// SPDX-License-Identifier: Apache-2.0
#include "gdb_walk.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>

#include "code_files.h"

#ifndef GDB_SCRIPT
#define GDB_SCRIPT "tests/tools/differential/gdb_frames.py"
#endif

struct gdb_walk {
	pid_t pid;
	FILE *to, *from; /* questions and answers */
	char core[64];
	size_t wanted, turn, asked;
	/* Whose files it knows. */
	const struct process *process;
	uint64_t mappings_serial;
};

/* gdb_frames.py reads questions from descriptor 0 and answers on descriptor 3. */
static void be_gdb(int questions, int answers)
{
	int null = open("/dev/null", O_WRONLY);

	dup2(questions, 0);
	dup2(answers, 3);
	dup2(null, 1);
	dup2(null, 2);
	unsetenv("DEBUGINFOD_URLS");
	execlp("gdb", "gdb", "-nx", "-q", "-batch", "-x", GDB_SCRIPT, (char *)NULL);
	_exit(127);
}

struct gdb_walk *gdb_walk_new(size_t wanted)
{
	struct gdb_walk *gdb = xcalloc(1, sizeof(*gdb));
	int questions[2], answers[2], core;

	gdb->wanted = wanted;
	snprintf(gdb->core, sizeof(gdb->core), "/tmp/hostprof-core-XXXXXX");
	core = mkostemp(gdb->core, O_CLOEXEC);
	if (core < 0)
		abort();
	close(core);
	if (pipe(questions) < 0 || pipe(answers) < 0)
		abort();
	fcntl(questions[1], F_SETFD, FD_CLOEXEC);
	fcntl(answers[0], F_SETFD, FD_CLOEXEC);
	gdb->pid = fork();
	if (gdb->pid == 0)
		be_gdb(questions[0], answers[1]);
	close(questions[0]);
	close(answers[1]);
	gdb->to = fdopen(questions[1], "w");
	gdb->from = fdopen(answers[0], "r");
	return gdb;
}

void gdb_walk_free(struct gdb_walk *gdb)
{
	if (!gdb)
		return;
	fclose(gdb->to);
	fclose(gdb->from);
	waitpid(gdb->pid, NULL, 0);
	unlink(gdb->core);
	free(gdb);
}

void gdb_walk_forget(struct gdb_walk *gdb)
{
	if (!gdb)
		return;
	gdb->process = NULL;
	gdb->asked = gdb->turn = 0;
}

static void tell_files(struct gdb_walk *gdb, const struct process *process)
{
	const struct mapping *m;

	if (gdb->process == process && gdb->mappings_serial == process->mappings_serial)
		return;
	gdb->process = process;
	gdb->mappings_serial = process->mappings_serial;
	fprintf(gdb->to, "forget\n");
	vec_for_each (m, &process->mappings) {
		const struct code_file *file = code_file_get(m);
		uint64_t bias;

		if (file && code_file_bias(file, m, &bias))
			fprintf(gdb->to, "file %#" PRIx64 " %s\n", bias, file->path);
	}
}

int gdb_walk_ask(struct gdb_walk *gdb, const struct snapshot *snapshot, struct frames *ret_frames)
{
	char line[256];
	uint64_t pc;
	int exact;
	int r = core_file_write(gdb->core, snapshot);

	if (r < 0)
		return r;
	ret_frames->count = 0;
	ret_frames->cut = false;
	tell_files(gdb, snapshot->process);
	fprintf(gdb->to, "walk %s\n", gdb->core);
	fflush(gdb->to);
	while (fgets(line, sizeof(line), gdb->from)) {
		if (sscanf(line, "pc %" SCNx64 " %d", &pc, &exact) == 2) {
			/* Its way to say that there is no caller. */
			if (!pc || ret_frames->count == MAX_FRAMES)
				continue;
			ret_frames->exact[ret_frames->count] = exact;
			ret_frames->pcs[ret_frames->count++] = pc;
		} else if (strcmp(line, "cut\n") == 0) {
			ret_frames->cut = true;
		} else if (strcmp(line, "end\n") == 0) {
			return 0;
		}
	}
	return -EIO;
}

/* A prime, so that what comes in a rhythm is met at every point of it. */
#define TURNS 7

int gdb_walk_frames(struct gdb_walk *gdb, const struct snapshot *snapshot,
		    struct frames *ret_frames)
{
	if (gdb->turn++ % TURNS || gdb->asked >= gdb->wanted)
		return -EAGAIN;
	gdb->asked++;
	return gdb_walk_ask(gdb, snapshot, ret_frames);
}
