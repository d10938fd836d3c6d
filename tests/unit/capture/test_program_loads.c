// SPDX-License-Identifier: Apache-2.0
/* Programs that are loaded beside each other, by which threads, and what libbpf loads in their place. libbpf is the test's. */
#include "test.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/alloc.h"
#include "capture/kernel/program_loads.h"

#define LARGE 5000
#define SMALL 100

/* A program is what follows; its instructions begin with its number. */
struct bpf_program {
	const char *name;
	enum bpf_prog_type type;
	size_t count;
	struct bpf_insn *instructions;
};

static struct {
	libbpf_prog_prepare_load_fn_t prepare[2];
	const char *sections[2];
	unsigned int handlers;
	pthread_mutex_t lock;
	pthread_t loader;
	unsigned int loaded, by_loader, at_once, most_at_once;
	unsigned int wait_for; /* so many loads at once, before one of them ends */
	pthread_cond_t came;
	int refused;
	bool waits_for_urgency; /* a load ends when its thread is urgent */
	int first_policy, first_nice;

	struct {
		char name[16];
		int fd;
	} loads[16];
} f;

/* --- in place of libbpf --- */

int libbpf_register_prog_handler(const char *sec, enum bpf_prog_type prog_type,
				 enum bpf_attach_type exp_attach_type,
				 const struct libbpf_prog_handler_opts *opts)
{
	assert_int_equal(exp_attach_type, 0);
	assert_int_equal(prog_type,
			 strcmp(sec, "kprobe") ? BPF_PROG_TYPE_PERF_EVENT : BPF_PROG_TYPE_KPROBE);
	f.sections[f.handlers] = sec;
	f.prepare[f.handlers] = opts->prog_prepare_load_fn;
	return (int)f.handlers++;
}

const char *bpf_program__name(const struct bpf_program *prog)
{
	return prog->name;
}

enum bpf_prog_type bpf_program__type(const struct bpf_program *prog)
{
	return prog->type;
}

const struct bpf_insn *bpf_program__insns(const struct bpf_program *prog)
{
	return prog->instructions;
}

size_t bpf_program__insn_cnt(const struct bpf_program *prog)
{
	return prog->count;
}

int bpf_program__set_insns(struct bpf_program *prog, struct bpf_insn *new_insns,
			   size_t new_insn_cnt)
{
	free(prog->instructions);
	prog->instructions = xmemdup(new_insns, new_insn_cnt * sizeof(*new_insns));
	prog->count = new_insn_cnt;
	return 0;
}

int bpf_program__fd(const struct bpf_program *prog)
{
	(void)prog;
	return 12345;
}

static int own_policy(void)
{
	return sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
}

static void wait_for_urgency(void)
{
	f.first_policy = own_policy();
	f.first_nice = getpriority(PRIO_PROCESS, 0);
	pthread_mutex_unlock(&f.lock);
	for (int i = 0; i < 5000 && own_policy() != SCHED_RR; i++)
		usleep(1000);
	pthread_mutex_lock(&f.lock);
	assert_int_equal(own_policy(), SCHED_RR);
}

/* If another thread is there it comes meanwhile. */
static void wait_for_more(void)
{
	pthread_mutex_unlock(&f.lock);
	usleep(20000);
	pthread_mutex_lock(&f.lock);
}

/* With all that libbpf had prepared. It takes as long as others are at it. */
int bpf_prog_load(enum bpf_prog_type prog_type, const char *prog_name, const char *license,
		  const struct bpf_insn *insns, size_t insn_cnt,
		  const struct bpf_prog_load_opts *opts)
{
	int fd;

	pthread_mutex_lock(&f.lock);
	f.at_once++;
	f.most_at_once = MAX(f.most_at_once, f.at_once);
	pthread_cond_broadcast(&f.came);
	while (f.most_at_once < f.wait_for)
		pthread_cond_wait(&f.came, &f.lock);
	if (f.wait_for)
		wait_for_more();
	if (f.waits_for_urgency)
		wait_for_urgency();
	f.at_once--;
	assert_int_equal(prog_type,
			 prog_name[0] == 'k' ? BPF_PROG_TYPE_KPROBE : BPF_PROG_TYPE_PERF_EVENT);
	assert_string_equal(license, "Dual MIT/GPL");
	assert_int_equal(insn_cnt, LARGE);
	assert_int_equal(insns[0].imm, atoi(prog_name + 1));
	assert_int_equal(insns[LARGE - 1].imm, 77);
	assert_int_equal(opts->func_info_cnt, 3);
	assert_int_equal(opts->line_info_cnt, 4);
	assert_int_equal(opts->expected_attach_type, 5);
	fd = f.refused && insns[0].imm == f.refused ? -E2BIG : dup(0);
	snprintf(f.loads[f.loaded].name, sizeof(f.loads[0].name), "%s", prog_name);
	f.loads[f.loaded++].fd = fd;
	f.by_loader += pthread_equal(pthread_self(), f.loader) != 0;
	pthread_mutex_unlock(&f.lock);
	return fd;
}

/* --- */

static int set_up(void **state)
{
	(void)state;
	pthread_mutex_init(&f.lock, NULL);
	pthread_cond_init(&f.came, NULL);
	f.loader = pthread_self();
	f.loaded = f.by_loader = f.at_once = f.most_at_once = f.wait_for = 0;
	f.refused = 0;
	f.waits_for_urgency = false;
	return 0;
}

static void make(struct bpf_program *program, const char *name, size_t count)
{
	*program = (struct bpf_program){ .name = name,
					 .type = name[0] == 'k' ? BPF_PROG_TYPE_KPROBE
								: BPF_PROG_TYPE_PERF_EVENT,
					 .count = count,
					 .instructions = xcalloc(count, sizeof(struct bpf_insn)) };
	program->instructions[0].imm = atoi(name + 1);
	program->instructions[count - 1].imm = 77;
}

/* As libbpf does it, one after the other: how many instructions it would load. */
static size_t prepare(struct bpf_program *program, struct bpf_prog_load_opts *ret_options)
{
	*ret_options = (struct bpf_prog_load_opts){ .sz = sizeof(*ret_options),
						    .func_info_cnt = 3,
						    .line_info_cnt = 4,
						    .expected_attach_type = 5 };
	assert_int_equal(f.prepare[program->name[0] != 'k'](program, ret_options, 0), 0);
	return program->count;
}

static void expect_fd(const struct program_loads *loads, const struct bpf_program *program)
{
	for (unsigned int i = 0; i < f.loaded; i++)
		if (!strcmp(f.loads[i].name, program->name)) {
			assert_int_equal(program_loads_fd(loads, program), f.loads[i].fd);
			return;
		}
	fail_msg("%s was not loaded", program->name);
}

/* Large ones, with all that libbpf has prepared; small ones libbpf loads as ever. */
static void large_programs(void **state)
{
	struct program_loads *loads = program_loads_begin(4);
	struct bpf_program programs[6];
	static const char *const names[] = { "k1", "p2", "k3", "k4", "p5" };
	struct bpf_prog_load_opts options;

	(void)state;
	assert_non_null(loads);
	assert_int_equal(f.handlers, 2);
	assert_string_equal(f.sections[0], "kprobe");
	assert_string_equal(f.sections[1], "perf_event");
	for (size_t i = 0; i < 5; i++) {
		make(&programs[i], names[i], LARGE);
		assert_int_equal(prepare(&programs[i], &options), 2);
		/* r0 = 0; exit, and nothing that tells of more. */
		assert_int_equal(programs[i].instructions[0].code, 0xb7);
		assert_int_equal(programs[i].instructions[1].code, 0x95);
		assert_int_equal(options.func_info_cnt + options.line_info_cnt, 0);
		assert_int_equal(options.expected_attach_type, 0);
	}
	make(&programs[5], "k6", SMALL);
	assert_int_equal(prepare(&programs[5], &options), SMALL);
	assert_int_equal(options.func_info_cnt, 3);
	assert_int_equal(program_loads_end(loads), 0);
	assert_int_equal(f.loaded, 5);
	for (size_t i = 0; i < 5; i++)
		expect_fd(loads, &programs[i]);
	assert_int_equal(program_loads_fd(loads, &programs[5]), 12345);
	program_loads_free(loads);
	for (unsigned int i = 0; i < f.loaded; i++)
		assert_int_equal(fcntl(f.loads[i].fd, F_GETFD), -1);
	for (size_t i = 0; i < 6; i++)
		free(programs[i].instructions);
}

/* Of four cpus two threads are used, and the one that waits for them. */
static void so_many_at_once(void **state)
{
	struct program_loads *loads = program_loads_begin(4);
	struct bpf_program programs[6];
	static const char *const names[] = { "k1", "k2", "k3", "k4", "k5", "k6" };
	struct bpf_prog_load_opts options;

	(void)state;
	f.wait_for = 3;
	for (size_t i = 0; i < 6; i++) {
		make(&programs[i], names[i], LARGE);
		prepare(&programs[i], &options);
	}
	assert_int_equal(program_loads_end(loads), 0);
	assert_int_equal(f.loaded, 6);
	assert_int_equal(f.most_at_once, 3);
	assert_true(f.by_loader >= 1);
	program_loads_free(loads);
	for (size_t i = 0; i < 6; i++)
		free(programs[i].instructions);
}

static bool has_begun(void)
{
	bool begun;

	pthread_mutex_lock(&f.lock);
	begun = f.at_once > 0;
	pthread_mutex_unlock(&f.lock);
	return begun;
}

/* Started by one that goes before others: as anybody, until he waits for it. */
static void how_urgent_they_are(void **state)
{
	const struct sched_param urgent = { .sched_priority = 1 }, usual = { .sched_priority = 0 };
	struct program_loads *loads;
	struct bpf_program program;
	struct bpf_prog_load_opts options;

	(void)state;
	if (setpriority(PRIO_PROCESS, 0, -3) < 0 || sched_setscheduler(0, SCHED_RR, &urgent) < 0)
		skip(); /* not root */
	f.waits_for_urgency = true;
	loads = program_loads_begin(2);
	make(&program, "k1", LARGE);
	prepare(&program, &options);
	while (!has_begun())
		usleep(1000);
	assert_int_equal(program_loads_end(loads), 0);
	assert_int_equal(sched_setscheduler(0, SCHED_OTHER, &usual), 0);
	assert_int_equal(setpriority(PRIO_PROCESS, 0, 0), 0);
	assert_int_equal(f.first_policy, SCHED_OTHER);
	assert_int_equal(f.first_nice, 0);
	assert_int_equal(f.by_loader, 0);
	program_loads_free(loads);
	free(program.instructions);
}

static void one_that_is_refused(void **state)
{
	struct program_loads *loads = program_loads_begin(2);
	struct bpf_program programs[2];
	struct bpf_prog_load_opts options;

	(void)state;
	f.refused = 2;
	make(&programs[0], "k1", LARGE);
	make(&programs[1], "k2", LARGE);
	prepare(&programs[0], &options);
	prepare(&programs[1], &options);
	assert_int_equal(program_loads_end(loads), -E2BIG);
	assert_true(program_loads_fd(loads, &programs[0]) >= 0);
	program_loads_free(loads);
	free(programs[0].instructions);
	free(programs[1].instructions);
}

/* With one cpu, when nobody loads, and beside who does: libbpf loads all. */
static void libbpf_alone(void **state)
{
	struct program_loads *loads;
	struct bpf_program program;
	struct bpf_prog_load_opts options;

	(void)state;
	assert_null(program_loads_begin(1));
	assert_int_equal(program_loads_end(NULL), 0);
	make(&program, "k1", LARGE);
	assert_int_equal(program_loads_fd(NULL, &program), 12345);
	assert_int_equal(prepare(&program, &options), LARGE);
	loads = program_loads_begin(2);
	assert_int_equal(program_loads_end(loads), 0);
	assert_int_equal(prepare(&program, &options), LARGE);
	program_loads_free(loads);
	/* That it was given up says as much. */
	program_loads_free(program_loads_begin(2));
	assert_int_equal(prepare(&program, &options), LARGE);
	program_loads_free(NULL);
	assert_int_equal(f.loaded, 0);
	free(program.instructions);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(large_programs, set_up),
		cmocka_unit_test_setup(so_many_at_once, set_up),
		cmocka_unit_test_setup(how_urgent_they_are, set_up),
		cmocka_unit_test_setup(one_that_is_refused, set_up),
		cmocka_unit_test_setup(libbpf_alone, set_up),
	};

	return cmocka_run_group_tests_name("program_loads", tests, NULL, NULL);
}
