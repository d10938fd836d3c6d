// SPDX-License-Identifier: Apache-2.0
#include "witness.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "core_image.h"

#ifndef WITNESS_SCRIPT
#define WITNESS_SCRIPT "tests/tools/java_steps/witness.py"
#endif

struct witness {
	uint32_t pid;
	pid_t child;
	FILE *to, *from; /* questions and answers */
	char core[64];
};

static void be_script(const char *java_home, uint32_t pid, int questions, int answers)
{
	char number[16];

	snprintf(number, sizeof(number), "%u", pid);
	dup2(questions, 0);
	dup2(answers, 1);
	execlp("python3", "python3", WITNESS_SCRIPT, java_home, number, (char *)NULL);
	_exit(127);
}

struct witness *witness_new(const char *java_home, uint32_t pid)
{
	struct witness *w = xcalloc(1, sizeof(*w));
	int questions[2], answers[2], core;

	w->pid = pid;
	snprintf(w->core, sizeof(w->core), "/dev/shm/hostprof-core-XXXXXX");
	core = mkostemp(w->core, O_CLOEXEC);
	if (core < 0 || pipe2(questions, O_CLOEXEC) < 0 || pipe2(answers, O_CLOEXEC) < 0)
		abort();
	close(core);
	w->child = fork();
	if (w->child == 0)
		be_script(java_home, pid, questions[0], answers[1]);
	close(questions[0]);
	close(answers[1]);
	w->to = fdopen(questions[1], "w");
	w->from = fdopen(answers[0], "r");
	return w;
}

void witness_free(struct witness *w)
{
	if (!w)
		return;
	fclose(w->to);
	fclose(w->from);
	waitpid(w->child, NULL, 0);
	unlink(w->core);
	free(w);
}

static void take_line(struct witness_stack *stack, const char *line)
{
	struct witness_frame *frame = &stack->frames[stack->count];

	if (strncmp(line, "silent ", 7) == 0)
		snprintf(stack->silent, sizeof(stack->silent), "%.*s", (int)strcspn(line + 7, "\n"),
			 line + 7);
	else if (stack->count < WITNESS_FRAMES &&
		 sscanf(line, "frame %" SCNx64 " %" SCNx64 " %255s", &frame->address, &frame->sp,
			frame->name) == 3)
		stack->count++;
}

int witness_ask(struct witness *w, uint32_t tid, const struct user_regs_struct *regs,
		struct witness_stack *ret_stack)
{
	char line[512];
	int r = core_image_write(w->core, w->pid, tid, regs);

	if (r < 0)
		return r;
	memset(ret_stack, 0, sizeof(*ret_stack));
	fprintf(w->to, "walk %u %s\n", tid, w->core);
	fflush(w->to);
	while (fgets(line, sizeof(line), w->from)) {
		if (strcmp(line, "end\n") == 0)
			return 0;
		take_line(ret_stack, line);
	}
	return -EIO;
}
