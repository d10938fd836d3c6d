/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: scale start PROCESSES TURN_US PERIOD_US FILE…
 *	  scale work NUMBER TURN_US PERIOD_US FILE…
 *	  scale idle PROCESSES
 * Many processes of which few run. Of "start" each process maps up to three of the FILEs, which
 * tests/tools/scale_elf.c wrote, and takes its turn once in a period: it burns TURN_US in a chain
 * of their functions. "ready" is printed when all are there; they end with the first one.
 */
#include "busy.h"

#include <elf.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "../tools/scale_code.h"

#define MAX_FILES     4
#define MAX_PROCESSES 20000
/* Loop turns before and after each call. */
#define DELAY 400
/* A process goes on to other code after so many turns. */
#define TURNS_EACH 8

typedef void (*chain_fn)(uint32_t frames, uint32_t delay);

struct mapped {
	struct scale_file file;
	const uint8_t *text;
};

static struct mapped files[MAX_FILES];
static unsigned int file_count;
static pid_t children[MAX_PROCESSES];

static void die(const char *what)
{
	perror(what);
	exit(1);
}

/* --- one process ------------------------------------------------------------------------------ */

static const uint8_t *map_text(int fd)
{
	Elf64_Ehdr elf;
	Elf64_Phdr p;
	void *at;

	if (pread(fd, &elf, sizeof(elf), 0) != sizeof(elf))
		return NULL;
	for (int i = 0; i < elf.e_phnum; i++) {
		if (pread(fd, &p, sizeof(p), (off_t)(elf.e_phoff + (unsigned int)i * sizeof(p))) !=
		    sizeof(p))
			return NULL;
		if (p.p_type != PT_LOAD || !(p.p_flags & PF_X))
			continue;
		at = mmap(NULL, p.p_memsz, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd,
			  (off_t)p.p_offset);
		return at == MAP_FAILED ? NULL : at;
	}
	return NULL;
}

static void map_file(const char *path)
{
	struct mapped *m = &files[file_count];
	const char *name = strrchr(path, '/');
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || !scale_file_of(name ? name + 1 : path, &m->file))
		die(path);
	m->text = map_text(fd);
	if (!m->text)
		die(path);
	close(fd);
	file_count++;
}

/* Burn until then. These two names and main are what the judge expects below a chain. */
__attribute__((noipa)) void take_turn(uint32_t number, uint32_t turn, uint64_t until_ns)
{
	const struct mapped *m = &files[turn % file_count];
	uint32_t first = scale_mix(number, turn / TURNS_EACH) % m->file.count;
	uint32_t frames = 8 + scale_mix(turn / TURNS_EACH, number) % (SCALE_MAX_CHAIN - 8);
	const uint8_t *code = m->text + (uint64_t)first * SCALE_SLOT;
	chain_fn chain;

	memcpy(&chain, &code, sizeof(chain));
	while (clock_ns(CLOCK_MONOTONIC) < until_ns)
		chain(frames, DELAY);
}

/*
 * Turns are spread over the period by the golden ratio (of 2^32); one that the machine has no time
 * for is left out.
 */
__attribute__((noipa)) void run_turns(uint32_t number, uint64_t turn_ns, uint64_t period_ns)
{
	uint64_t phase = (uint64_t)(uint32_t)(number * 2654435769U) * (period_ns >> 10) >> 22;

	for (uint32_t turn = 0;; turn++) {
		uint64_t at =
			((clock_ns(CLOCK_MONOTONIC) - phase) / period_ns + 1) * period_ns + phase;
		struct timespec ts = { (time_t)(at / 1000000000ULL), (long)(at % 1000000000ULL) };

		while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL))
			;
		take_turn(number, turn, at + turn_ns);
	}
}

/* --- all of them ------------------------------------------------------------------------------ */

static unsigned int processes;

static void end_all(void)
{
	for (unsigned int i = 0; i < processes; i++)
		kill(children[i], SIGKILL);
}

static void stand_by(void)
{
	sigset_t set;
	int number;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	printf("ready\n");
	fflush(stdout);
	sigwait(&set, &number);
	end_all();
}

static void become_worker(char **argv, unsigned int number, char **paths, unsigned int path_count)
{
	static char text[16];
	/* Every eighth also has the last, which is the large one; neighbours share no file. */
	char *args[] = { argv[0],
			 "work",
			 text,
			 argv[3],
			 argv[4],
			 paths[number % path_count],
			 paths[number * 7 % path_count],
			 number % 8 ? NULL : paths[path_count - 1],
			 NULL };

	snprintf(text, sizeof(text), "%u", number);
	execv(argv[0], args);
	_exit(127);
}

static void fork_one(unsigned int number, char **argv, int argc)
{
	pid_t parent = getpid(), pid = fork();

	if (pid < 0) {
		end_all();
		die("fork");
	}
	children[number] = pid;
	if (pid)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	if (argc > 5)
		become_worker(argv, number, argv + 5, (unsigned int)argc - 5);
	for (;;)
		pause();
}

static void block_signals(int how)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigprocmask(how, &set, NULL);
}

static int usage(void)
{
	fprintf(stderr, "usage: scale start PROCESSES TURN_US PERIOD_US FILE...\n"
			"       scale idle PROCESSES\n");
	return 2;
}

int main(int argc, char **argv)
{
	if (argc >= 6 && !strcmp(argv[1], "work")) {
		block_signals(SIG_UNBLOCK);
		for (int i = 5; i < argc && file_count < MAX_FILES; i++)
			map_file(argv[i]);
		run_turns((uint32_t)atoi(argv[2]), 1000ULL * (uint64_t)atoll(argv[3]),
			  1000ULL * (uint64_t)atoll(argv[4]));
	}
	if (!(argc >= 6 && !strcmp(argv[1], "start")) && !(argc == 3 && !strcmp(argv[1], "idle")))
		return usage();
	block_signals(SIG_BLOCK);
	for (unsigned int wanted = (unsigned int)atoi(argv[2]);
	     processes < wanted && processes < MAX_PROCESSES; processes++)
		fork_one(processes, argv, argc);
	stand_by();
	return 0;
}
