// SPDX-License-Identifier: Apache-2.0
/*
 * Walks the stack of a Java thread at every instruction that it executes, and says which walks
 * cannot be right (java_steps/step_judge.h). tests/root/java_steps.py starts the workload and judges the
 * names.
 *
 *     java_steps [--rounds N] [--signal N] [--record FILE [--witness JAVA_HOME]] PID COMM STEPS
 *
 * The thread is the one whose name begins with COMM. --rounds: so many times, at other moments.
 * --signal: SIGUSR2 every N steps. --witness: other tools are asked for each stack that is recorded
 * (java_steps/witness.h); JAVA_HOME is the JDK that runs. Needs root, or ptrace rights.
 */
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "java_steps/java_recording.h"
#include "java_steps/step_report.h"
#include "jvm/layout/jvm_layout_read.h"

/* Between two rounds the thread runs, for it to be somewhere else. */
#define PAUSE_US 30000

/* A step that takes longer is one into a system call that waits. */
#define SLEEP_SECONDS 1

#define PUSHF	  0x9c
#define TRAP_FLAG 0x100ULL
/*
 * From a handler's first stack pointer: return address, ucontext, of that gregs[REG_RIP]; the flags
 * are next to it.
 */
#define SIGNAL_PC_AT (8 + 40 + 8 * 16)

struct run {
	uint32_t pid, tid;
	const char *comm;
	unsigned long steps, rounds, signal_every;
	struct vmstructs *vs;
	struct jvm_layout layout;
	struct live_walk *walk;
	struct frame_names *names;
	struct step_report *report;
	struct java_recording *recording; /* NULL: nothing is recorded */
	struct witness *witness;	  /* of what is recorded, or NULL */
	struct seen_calls seen;		  /* with a witness */
	struct user_regs_struct regs;	  /* of the last stop */
	struct live_stack good, now;	  /* `good` is whole */
	unsigned long step;
	uint64_t pc; /* of the last stop */
};

/* --- the thread ------------------------------------------------------------------------------- */

/* How long the thread has run, in clock ticks; 0: it has another name. */
static unsigned long run_time(uint32_t pid, const char *tid, const char *comm)
{
	char path[320], text[512] = "";
	unsigned long user = 0, kernel = 0;
	const char *end;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%u/task/%s/stat", pid, tid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	text[fread(text, 1, sizeof(text) - 1, f)] = 0;
	fclose(f);
	end = strrchr(text, ')');
	if (!end || strncmp(text + strcspn(text, "(") + 1, comm, strlen(comm)) != 0 ||
	    sscanf(end + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
		   &kernel) != 2)
		return 0;
	return user + kernel + 1;
}

/* Of the threads with that name the one that has run longest. */
static uint32_t find_thread(uint32_t pid, const char *comm)
{
	struct dirent *entry;
	unsigned long most = 0;
	uint32_t tid = 0;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%u/task", pid);
	dir = opendir(path);
	while (dir && (entry = readdir(dir))) {
		unsigned long ran = run_time(pid, entry->d_name, comm);

		/* ".." is the process, with the time of all. */
		if (ran > most && entry->d_name[0] != '.') {
			most = ran;
			tid = (uint32_t)strtoul(entry->d_name, NULL, 10);
		}
	}
	if (dir)
		closedir(dir);
	return tid;
}

static volatile sig_atomic_t slept; /* the round is over: the thread waits for something */

static void on_alarm(int number)
{
	(void)number;
	slept = 1;
}

/* 0 and why it stopped, or -1: it is gone. A thread that sleeps in the kernel is woken up. */
static int wait_stop(uint32_t tid, int *ret_signal)
{
	int status;

	alarm(SLEEP_SECONDS);
	while (waitpid((pid_t)tid, &status, __WALL) < 0)
		if (errno != EINTR || ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) < 0)
			return -1;
	alarm(0);
	if (!WIFSTOPPED(status)) {
		fprintf(stderr, "java_steps: thread %u: %s %d\n", tid,
			WIFSIGNALED(status) ? "signal" : "exit",
			WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
		return -1;
	}
	*ret_signal = WSTOPSIG(status);
	return 0;
}

/* Clear the trap flag in the flags that lie at ADDRESS. */
static void clear_trap_flag(const struct run *run, uint64_t address)
{
	uint64_t word;

	if (live_walk_read(run->walk, address, &word, 8) == 0 && (word & TRAP_FLAG))
		ptrace(PTRACE_POKEDATA, run->tid, (void *)(uintptr_t)address, /* NOLINT */
		       (void *)(uintptr_t)(word & ~TRAP_FLAG));		      /* NOLINT */
}

/*
 * A single-stepped pushf pushes the trap flag too, which its popf would set for good; and once the
 * kernel takes the flag for the program's own it stays. The byte before pc may be the end of another
 * instruction, which is longer.
 */
static void hide_trap_flag(const struct run *run, struct user_regs_struct *regs)
{
	uint8_t code;

	if (regs->eflags & TRAP_FLAG) {
		regs->eflags &= ~TRAP_FLAG;
		ptrace(PTRACE_SETREGS, run->tid, NULL, regs);
	}
	if (run->pc == regs->rip - 1 && live_walk_read(run->walk, run->pc, &code, 1) == 0 &&
	    code == PUSHF)
		clear_trap_flag(run, regs->rsp);
}

/* --- one step --------------------------------------------------------------------------------- */

static void look(struct run *run, const struct user_regs_struct *regs, bool anew)
{
	enum step_change change;

	live_walk_take(run->walk, run->tid, regs, &run->now);
	change = anew && run->now.reason == UNWIND_DONE
			 ? STEP_SAME
			 : step_judge(run->vs, &run->layout.wire, &run->good, &run->now);
	step_report_add(run->report, change, regs, &run->good, &run->now);
	if (run->recording && change < STEP_UNFINISHED)
		java_recording_begin_seen(run->recording, regs, run->tid, &run->now);
	if (run->recording && change < STEP_UNFINISHED)
		java_recording_add(run->recording, regs, run->tid, &run->now, change);
	if (change != STEP_UNFINISHED)
		run->good = run->now;
}

/* What a signal stop asks to be delivered; the tracer's own stops are none. */
static int signal_to_give(int stopped_by)
{
	return stopped_by == SIGTRAP || stopped_by == SIGSTOP ? 0 : stopped_by;
}

/* Is this in front of a handler's first instruction? The signal may be blocked. */
static bool is_handler(const struct run *run, const struct user_regs_struct *regs)
{
	uint64_t pc;

	return live_walk_read(run->walk, regs->rsp + SIGNAL_PC_AT, &pc, 8) == 0 && pc == run->pc;
}

/* DELIVERED: a signal's number or 0. */
static void note_step(struct run *run, const struct user_regs_struct *regs, int delivered)
{
	bool begins = delivered && is_handler(run, regs);

	if (begins)
		clear_trap_flag(run, regs->rsp + SIGNAL_PC_AT + 8);
	/* A signal came before the instruction. */
	if (regs->rip != run->pc || regs->rsp != run->regs.rsp || begins)
		seen_calls_step(&run->seen, run->walk, &run->regs, regs, begins);
	run->regs = *regs;
	run->pc = regs->rip;
}

static int step(struct run *run, int *deliver)
{
	struct user_regs_struct regs;
	int stopped_by, delivered;

	if (run->signal_every && ++run->step % run->signal_every == 0 && !*deliver)
		*deliver = SIGUSR2;
	delivered = *deliver;
	if (ptrace(PTRACE_SINGLESTEP, run->tid, NULL, (long)delivered) < 0 ||
	    wait_stop(run->tid, &stopped_by) < 0)
		return -1;
	if (ptrace(PTRACE_GETREGS, run->tid, NULL, &regs) < 0)
		return -1;
	hide_trap_flag(run, &regs);
	note_step(run, &regs, delivered);
	*deliver = signal_to_give(stopped_by);
	/* A signal that came: the next step begins its handler. */
	if (!*deliver)
		look(run, &regs, false);
	return 0;
}

static int run_round(struct run *run)
{
	struct user_regs_struct regs;
	int deliver = 0, stopped_by, r = 0;

	run->tid = find_thread(run->pid, run->comm);
	if (!run->tid || ptrace(PTRACE_SEIZE, run->tid, NULL, NULL) < 0) {
		fprintf(stderr, "java_steps: thread \"%s\": %s\n", run->comm,
			run->tid ? strerror(errno) : "there is none");
		return -1;
	}
	if (ptrace(PTRACE_INTERRUPT, run->tid, NULL, NULL) < 0 ||
	    wait_stop(run->tid, &stopped_by) < 0 ||
	    ptrace(PTRACE_GETREGS, run->tid, NULL, &regs) < 0)
		return -1;
	run->pc = regs.rip;
	run->regs = regs;
	run->seen.valid = false;
	look(run, &regs, true);
	slept = 0;
	for (unsigned long i = 0; i < run->steps && r == 0 && !slept; i++)
		r = step(run, &deliver);
	ptrace(PTRACE_DETACH, run->tid, NULL, (long)deliver);
	usleep(PAUSE_US);
	return r;
}

/* ---------------------------------------------------------------------------------------------- */

static int open_jvm(struct run *run)
{
	struct err err = { 0 };
	int r = vmstructs_open(NULL, run->pid, NULL, &run->vs, &err);

	if (r == 0)
		r = jvm_layout_read(run->vs, &run->layout, &err);
	if (r < 0) {
		fprintf(stderr, "java_steps: %s\n", err.text);
		return r;
	}
	run->layout.wire.serial = 1;
	r = live_walk_new(run->pid, &run->layout.wire, &run->walk);
	if (r < 0) {
		fprintf(stderr, "java_steps: process %u: %s\n", run->pid, strerror(-r));
		return r;
	}
	run->names = frame_names_new(run->pid, run->vs, &run->layout);
	run->report = step_report_new(run->vs, run->names, run->walk);
	return 0;
}

static int run_all(struct run *run, const char *record_to)
{
	int r = 0;

	if (record_to)
		run->recording = java_recording_new(run->vs, &run->layout, run->walk, run->names,
						    run->witness, &run->seen);
	for (unsigned long i = 0; i < run->rounds && r == 0; i++)
		r = run_round(run);
	if (r < 0)
		fprintf(stderr, "java_steps: the thread is gone, or cannot be traced\n");
	step_report_print(run->report);
	if (record_to && java_recording_write(run->recording, record_to) < 0)
		r = -1;
	java_recording_free(run->recording);
	return r;
}

static void release(struct run *run)
{
	step_report_free(run->report);
	frame_names_free(run->names);
	live_walk_free(run->walk);
	vmstructs_close(run->vs);
}

int main(int argc, char **argv)
{
	static const struct option options[] = { { "rounds", required_argument, NULL, 'r' },
						 { "signal", required_argument, NULL, 's' },
						 { "record", required_argument, NULL, 'o' },
						 { "witness", required_argument, NULL, 'w' },
						 { NULL, 0, NULL, 0 } };
	static struct run run = { .rounds = 1 };
	const char *record_to = NULL, *java_home = NULL;
	int option, status = 1;

	sigaction(SIGALRM, &(struct sigaction){ .sa_handler = on_alarm }, NULL);
	while ((option = getopt_long(argc, argv, "", options, NULL)) >= 0) {
		switch (option) {
		case 'r': run.rounds = strtoul(optarg, NULL, 10); break;
		case 's': run.signal_every = strtoul(optarg, NULL, 10); break;
		case 'o': record_to = optarg; break;
		case 'w': java_home = optarg; break;
		default: return 2;
		}
	}
	if (argc - optind != 3)
		return 2;
	run.pid = (uint32_t)strtoul(argv[optind], NULL, 10);
	run.comm = argv[optind + 1];
	run.steps = strtoul(argv[optind + 2], NULL, 10);
	if (java_home)
		run.witness = witness_new(java_home, run.pid);
	if (open_jvm(&run) == 0)
		status = run_all(&run, record_to) < 0;
	witness_free(run.witness);
	release(&run);
	return status;
}
