// SPDX-License-Identifier: Apache-2.0
#include "capture/kernel/program_loads.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/vec.h"

/* Smaller ones take less than a thread costs. */
#define LEAST_INSTRUCTIONS 4096
#define MOST_THREADS	   7
/* As bpf/hostprof.bpf.c has it, which libbpf does not tell. */
#define LICENSE "Dual MIT/GPL"

struct load {
	const struct bpf_program *program;
	enum bpf_prog_type type;
	struct bpf_insn *instructions; /* owned */
	size_t count;
	struct bpf_prog_load_opts options; /* what they point to is the object's */
	int fd;				   /* owned; negative: why there is none */
};

struct program_loads {
	pthread_mutex_t lock; /* of what follows, but for a load that was taken */
	pthread_cond_t more;
	VEC(struct load *) loads; /* owned */
	size_t taken;
	bool all_are_there;
	pthread_t threads[MOST_THREADS];
	unsigned int thread_count;
};

/* Of the thread that loads: others may load objects of their own. */
static __thread struct program_loads *preparing;

/* --- loading ---------------------------------------------------------------------------------- */

static void load_one(struct load *load)
{
	load->fd = bpf_prog_load(load->type, bpf_program__name(load->program), LICENSE,
				 load->instructions, load->count, &load->options);
	free(load->instructions);
	load->instructions = NULL;
}

/* The next one that nobody has taken; NULL: there is none, and if WAITS none will be. */
static struct load *take(struct program_loads *loads, bool waits)
{
	struct load *load = NULL;

	pthread_mutex_lock(&loads->lock);
	while (waits && loads->taken == loads->loads.len && !loads->all_are_there)
		pthread_cond_wait(&loads->more, &loads->lock);
	if (loads->taken < loads->loads.len)
		load = loads->loads.items[loads->taken++];
	pthread_mutex_unlock(&loads->lock);
	return load;
}

static void *help(void *data)
{
	struct load *load;

	if (getpriority(PRIO_PROCESS, 0) < 0)
		(void)setpriority(PRIO_PROCESS, 0, 0);
	while ((load = take(data, true)))
		load_one(load);
	return NULL;
}

/* They are as urgent as anybody, whoever starts them: not all cpus are to be taken from others. Signals are the event loop's. */
static void start_threads(struct program_loads *loads, unsigned int count)
{
	pthread_attr_t usual;
	sigset_t all, before;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_attr_init(&usual);
	pthread_attr_setinheritsched(&usual, PTHREAD_EXPLICIT_SCHED);
	while (loads->thread_count < count &&
	       !pthread_create(&loads->threads[loads->thread_count], &usual, help, loads))
		loads->thread_count++;
	pthread_attr_destroy(&usual);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* Who waits for them does not need his cpu, so that they may be as urgent as he is. */
static void wait_for_threads(struct program_loads *loads)
{
	int policy = sched_getscheduler(0) & ~SCHED_RESET_ON_FORK;
	const struct sched_param param = { .sched_priority = sched_get_priority_min(policy) };

	for (unsigned int i = 0; policy != SCHED_OTHER && i < loads->thread_count; i++)
		(void)pthread_setschedparam(loads->threads[i], policy, &param);
	for (unsigned int i = 0; i < loads->thread_count; i++)
		pthread_join(loads->threads[i], NULL);
	loads->thread_count = 0;
}

/* --- what libbpf would load ------------------------------------------------------------------- */

static void add(struct program_loads *loads, struct load *load)
{
	pthread_mutex_lock(&loads->lock);
	vec_push(&loads->loads, load);
	pthread_cond_signal(&loads->more);
	pthread_mutex_unlock(&loads->lock);
}

/* libbpf is about to load PROGRAM, with all that is to be put into it. It loads one that does nothing in its place. */
static int prepare(struct bpf_program *program, struct bpf_prog_load_opts *options, long cookie)
{
	static struct bpf_insn nothing[] = { { .code = BPF_ALU64 | BPF_MOV | BPF_K,
					       .dst_reg = BPF_REG_0 },
					     { .code = BPF_JMP | BPF_EXIT } };
	size_t count = bpf_program__insn_cnt(program);
	struct load *load;

	(void)cookie;
	if (!preparing || count < LEAST_INSTRUCTIONS)
		return 0;
	load = xcalloc(1, sizeof(*load));
	*load = (struct load){ .program = program,
			       .type = bpf_program__type(program),
			       .instructions = xmemdup(bpf_program__insns(program),
						       count * sizeof(struct bpf_insn)),
			       .count = count,
			       .options = *options,
			       .fd = -EINPROGRESS };
	add(preparing, load);
	options->func_info_cnt = options->line_info_cnt = 0;
	options->expected_attach_type = 0;
	return bpf_program__set_insns(program, nothing, ARRAY_SIZE(nothing));
}

static bool handles;

/* The sections of programs that are attached by their descriptor; they stay, as objects refer to them. */
static void handle_sections(void)
{
	LIBBPF_OPTS(libbpf_prog_handler_opts, options, .prog_prepare_load_fn = prepare);

	handles = libbpf_register_prog_handler("kprobe", BPF_PROG_TYPE_KPROBE, 0, &options) >= 0 &&
		  libbpf_register_prog_handler("perf_event", BPF_PROG_TYPE_PERF_EVENT, 0,
					       &options) >= 0;
}

/* --- all of it -------------------------------------------------------------------------------- */

struct program_loads *program_loads_begin(unsigned int cpus)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct program_loads *loads;

	pthread_once(&once, handle_sections);
	if (!handles || cpus < 2)
		return NULL;
	loads = xcalloc(1, sizeof(*loads));
	pthread_mutex_init(&loads->lock, NULL);
	pthread_cond_init(&loads->more, NULL);
	start_threads(loads, MIN(cpus / 2, (unsigned int)MOST_THREADS));
	preparing = loads;
	return loads;
}

int program_loads_end(struct program_loads *loads)
{
	struct load *load;

	preparing = NULL;
	if (!loads)
		return 0;
	pthread_mutex_lock(&loads->lock);
	loads->all_are_there = true;
	pthread_cond_broadcast(&loads->more);
	pthread_mutex_unlock(&loads->lock);
	while ((load = take(loads, false)))
		load_one(load);
	wait_for_threads(loads);
	for (size_t i = 0; i < loads->loads.len; i++)
		if (loads->loads.items[i]->fd < 0)
			return loads->loads.items[i]->fd;
	return 0;
}

int program_loads_fd(const struct program_loads *loads, const struct bpf_program *program)
{
	for (size_t i = 0; loads && i < loads->loads.len; i++)
		if (loads->loads.items[i]->program == program)
			return loads->loads.items[i]->fd;
	return bpf_program__fd(program);
}

void program_loads_free(struct program_loads *loads)
{
	struct load **load;

	if (!loads)
		return;
	program_loads_end(loads);
	vec_for_each (load, &loads->loads) {
		if ((*load)->fd >= 0)
			close((*load)->fd);
		free(*load);
	}
	vec_release(&loads->loads);
	pthread_mutex_destroy(&loads->lock);
	pthread_cond_destroy(&loads->more);
	free(loads);
}
