/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/attach/agents.h"

#include <errno.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/worker.h"
#include "codemap.h"
#include "jvm/attach/attach.h"
#include "wall/wall.h"

#define ATTACH_TIMEOUT_NS (5 * NSEC_PER_SEC)
/*
 * Looking for an agent means reading /proc/PID/fd, which on a server are thousands: not more often
 * than this, and less often the longer there is none.
 */
#define MAP_RETRY_NS	 (500 * NSEC_PER_MSEC)
#define MAP_MAX_RETRY_NS (10 * NSEC_PER_SEC)
/* Where nothing was mapped since: only an agent that was there before, and left, could be back. */
#define MAP_CALM_RETRY_NS (60 * NSEC_PER_SEC)
/* A profile does not wait longer for the code maps of its JVMs. */
#define BUSY_LIMIT_NS (5 * NSEC_PER_SEC)
/* A JVM that was not ready so often, within 8 s, may never be: it is seen without an agent then, and still asked. */
#define MOST_NOT_READY 5
/* So many are kept of JVMs that are gone; a host may start thousands. */
#define MAX_PAST_FAILURES 100
/* One JVM that does not answer must not keep the others waiting. */
#define ATTACH_THREADS 4

#define DETACH_STEP_US 2000
/* A process that has become a JVM is seen by its samples, or after so long. */
#define LOOK_NS (500 * NSEC_PER_MSEC)
/* What is waited for at the end of a run: a JVM that can answers in a few milliseconds, on a busy host in a hundred. */
#define LAST_ATTACH_NS (1 * NSEC_PER_SEC)
#define DETACH_NS      (4 * NSEC_PER_SEC)

enum attach_state { ATTACH_NONE, ATTACH_RUNNING, ATTACH_DONE };

struct agent {
	struct attachment attachment; /* to the process */
	struct process *process;
	struct attach_job *job; /* under way, owned by the pool; else NULL */
	bool is_jvm;
	uint64_t mappings_serial; /* with which that was looked at */
	uint64_t map_tried_ns, map_tried_serial;
	uint64_t map_retry_ns;
	uint64_t map_held_ns; /* since when another hostprof has been seen to read it */
	bool wanted;	      /* a target: its agent is used */
	bool sampled;
	bool map_open;
	bool map_missing; /* when it was tried */
	bool had_map;	  /* at some time */
	bool is_ours;	  /* it was loaded for this run */
	enum attach_state attach;
	unsigned int not_ready; /* attaches that said so */
	char failure[384];
};

struct attach_job {
	struct worker_job job;
	struct agents *agents;
	struct agent *agent; /* borrowed; NULL: its process has gone */
	uint32_t pid;
	const char *options; /* of the agent; borrowed for good */
	struct err err;
};

struct past_failure {
	uint32_t pid;
	char *why; /* owned */
};

struct agents {
	struct jvm_table *jvms;
	struct agents_hooks hooks;
	struct worker_pool *pool;      /* owned; attaches wait for JVMs. NULL: none is attached */
	struct book book;	       /* struct agent, owned; of processes that live */
	VEC(struct agent *) jvms_seen; /* of these, borrowed */
	uint64_t looked_ns;	       /* when all of them were asked for */
	/* What is kept of those that are gone. */
	uint32_t past_jvms, past_with_agent;
	VEC(struct past_failure) past_failures;
	uint32_t attaching;
	uint64_t busy_since_ns;
};

static struct agent *agent_of(struct attachment *attachment)
{
	return container_of(attachment, struct agent, attachment);
}

int agents_new(struct jvm_table *jvms, bool attach, struct agents **ret_agents, struct err *err)
{
	struct agents *agents = xcalloc(1, sizeof(*agents));
	int r = attach ? worker_pool_new(ATTACH_THREADS, &agents->pool, err) : 0;

	if (r < 0) {
		free(agents);
		return r;
	}
	agents->jvms = jvms;
	*ret_agents = agents;
	return 0;
}

void agents_set_hooks(struct agents *agents, const struct agents_hooks *hooks)
{
	agents->hooks = *hooks;
}

void agents_free(struct agents *agents)
{
	struct past_failure *failure;
	struct attachment **at;

	if (!agents)
		return;
	worker_pool_free(agents->pool);
	vec_for_each (at, &agents->book.all)
		free(agent_of(*at));
	book_release(&agents->book);
	vec_release(&agents->jvms_seen);
	vec_for_each (failure, &agents->past_failures)
		free(failure->why);
	vec_release(&agents->past_failures);
	free(agents);
}

static void attach_run(struct worker_job *job)
{
	struct attach_job *attach = container_of(job, struct attach_job, job);
	char path[4096];

	if (attach_find_agent(path, sizeof(path), &attach->err) < 0)
		return;
	if (attach_check(attach->pid, &attach->err) < 0)
		return;
	attach_load_agent(attach->pid, path, attach->options, ATTACH_TIMEOUT_NS, &attach->err);
}

static void note_attached(struct agents *agents, struct agent *agent)
{
	agent->is_ours = true;
	if (agents->hooks.attached)
		agents->hooks.attached(agent->process->pid, agents->hooks.data);
}

static void attach_done(struct worker_job *job)
{
	struct attach_job *attach = container_of(job, struct attach_job, job);
	struct agent *agent = attach->agent;

	attach->agents->attaching--;
	if (agent) {
		agent->job = NULL;
		/* What only is not ready yet (it starts, or is stopped) is tried again, more and more seldom. */
		agent->attach = attach->err.code == -EAGAIN ? ATTACH_NONE : ATTACH_DONE;
		if (agent->attach == ATTACH_DONE)
			agent->map_retry_ns = 0;
		else
			agent->not_ready++;
		if (attach->err.code)
			snprintf(agent->failure, sizeof(agent->failure), "%s", attach->err.text);
		else
			note_attached(attach->agents, agent);
	}
	free(attach);
}

static void start_attach(struct agents *agents, struct agent *agent)
{
	struct attach_job *attach = xcalloc(1, sizeof(*attach));

	attach->job.run = attach_run;
	attach->job.done = attach_done;
	attach->agents = agents;
	attach->agent = agent;
	attach->pid = agent->process->pid;
	attach->options = "";
	agent->job = attach;
	agent->attach = ATTACH_RUNNING;
	agents->attaching++;
	if (!agents->busy_since_ns)
		agents->busy_since_ns = clock_now_ns();
	worker_pool_submit(agents->pool, &attach->job);
}

/* A JVM that forked to run a program is, until the exec, a copy that no attach may signal. */
static bool may_attach(const struct process *process)
{
	return process->exec_count > 0 || process->begin_ns == 0;
}

static void note_opened(struct agents *agents, struct agent *agent, struct jvm *jvm)
{
	struct err err = { 0 };

	if (agents->hooks.opened &&
	    agents->hooks.opened(agent->process, jvm, agents->hooks.data, &err) < 0)
		snprintf(agent->failure, sizeof(agent->failure), "%s", err.text);
}

/* Why it could not be attached to says more than what comes of that. */
static bool has_refused(const struct agent *agent)
{
	return agent->attach == ATTACH_DONE && !agent->is_ours && agent->failure[0];
}

static bool map_is_due(const struct agent *agent, uint64_t now_ns)
{
	uint64_t since_ns = now_ns - agent->map_tried_ns;
	bool is_calm;

	if (!agent->wanted || agent->map_open || since_ns < agent->map_retry_ns)
		return false;
	is_calm = agent->map_missing && !agent->not_ready &&
		  agent->map_retry_ns == MAP_MAX_RETRY_NS &&
		  agent->map_tried_serial == agent->process->mappings_serial;
	return !is_calm || since_ns >= MAP_CALM_RETRY_NS;
}

static void try_map(struct agents *agents, struct agent *agent, struct jvm *jvm, uint64_t now_ns)
{
	struct err err = { 0 };
	int r;

	if (agent->attach == ATTACH_RUNNING || !map_is_due(agent, now_ns))
		return;
	agent->map_tried_ns = now_ns;
	agent->map_tried_serial = agent->process->mappings_serial;
	agent->map_retry_ns = MIN(MAX(2 * agent->map_retry_ns, MAP_RETRY_NS), MAP_MAX_RETRY_NS);
	r = jvm_open_code_map(jvm, &err);
	agent->map_missing = r == -ENODATA;
	if (r == -EBUSY && !agent->map_held_ns)
		agent->map_held_ns = now_ns;
	/* It may have been killed: then its lease soon ends. */
	if (r == -EBUSY && now_ns - agent->map_held_ns < CODEMAP_LEASE_NS)
		agent->map_retry_ns = MAP_RETRY_NS;
	if (r == 0) {
		agent->map_open = agent->had_map = true;
		agent->failure[0] = '\0';
		note_opened(agents, agent, jvm);
		if (!agents->busy_since_ns)
			agents->busy_since_ns = now_ns;
	} else if (r == -ENODATA && agents->pool && agent->attach == ATTACH_NONE &&
		   may_attach(agent->process)) {
		start_attach(agents, agent);
	} else if (r != -ENODATA && r != -ESRCH && !has_refused(agent)) {
		/* -ESRCH: its exit is still under way to us */
		snprintf(agent->failure, sizeof(agent->failure), "%s", err.text);
	}
}

static void try_agent(struct agents *agents, struct agent *agent, uint64_t now_ns)
{
	struct err err = { 0 };
	struct jvm *jvm;

	if (agent->process->exited)
		return;
	jvm = jvm_table_get(agents->jvms, agent->process);
	agent->mappings_serial = agent->process->mappings_serial;
	if (!jvm)
		return;
	if (!agent->is_jvm)
		vec_push(&agents->jvms_seen, agent);
	agent->is_jvm = true;
	if (agent->map_open && !jvm_reads_code_map(jvm)) {
		agent->map_open = false;
		agent->map_retry_ns = 0;
	}
	try_map(agents, agent, jvm, now_ns);
	if (agent->map_open && !agent->failure[0] && jvm_check_allocations(jvm, &err) < 0)
		snprintf(agent->failure, sizeof(agent->failure), "%s", err.text);
}

/* Of a thousand processes most are none, until they map something more. */
static bool has_become_jvm(const struct agent *agent)
{
	return !agent->is_jvm && agent->wanted &&
	       agent->mappings_serial != agent->process->mappings_serial;
}

static struct agent *find_agent(const struct agents *agents, const struct process *process)
{
	return book_entry(&agents->book, &process->attached, struct agent, attachment);
}

static struct agent *get_agent(struct agents *agents, struct process *process, bool wanted)
{
	struct agent *agent = find_agent(agents, process);

	if (agent)
		return agent;
	agent = xcalloc(1, sizeof(*agent));
	agent->process = process;
	agent->wanted = wanted;
	book_attach(&agents->book, &process->attached, &agent->attachment);
	try_agent(agents, agent, clock_now_ns());
	return agent;
}

void agents_add(struct agents *agents, struct process *process, bool wanted)
{
	struct agent *agent = get_agent(agents, process, wanted);

	agent->wanted |= wanted;
}

void agents_note_sample(struct agents *agents, struct process *process)
{
	struct agent *agent = get_agent(agents, process, true);

	agent->wanted = true;
	agent->sampled = true;
	if (has_become_jvm(agent))
		try_agent(agents, agent, clock_now_ns());
}

static void look_for_jvms(struct agents *agents, uint64_t now_ns)
{
	struct attachment **at;

	if (now_ns - agents->looked_ns < LOOK_NS)
		return;
	agents->looked_ns = now_ns;
	vec_for_each (at, &agents->book.all)
		if (has_become_jvm(agent_of(*at)))
			try_agent(agents, agent_of(*at), now_ns);
}

void agents_poll(struct agents *agents)
{
	uint64_t now_ns = clock_now_ns();

	if (agents->pool)
		worker_pool_reap(agents->pool);
	for (size_t i = 0; i < agents->jvms_seen.len; i++) {
		struct agent *agent = agents->jvms_seen.items[i];

		/* Of many JVMs nothing else is touched. */
		if (agent->map_open || map_is_due(agent, now_ns))
			try_agent(agents, agent, now_ns);
	}
	look_for_jvms(agents, now_ns);
	if (!agents->attaching && jvm_table_replayed(agents->jvms))
		agents->busy_since_ns = 0;
}

void agents_forget(struct agents *agents, struct process *process)
{
	struct agent *agent = find_agent(agents, process);

	if (!agent)
		return;
	agents->past_jvms += agent->sampled;
	agents->past_with_agent += agent->sampled && agent->had_map;
	if (agent->failure[0] && agents->past_failures.len < MAX_PAST_FAILURES) {
		struct past_failure failure = { process->pid, xstrdup(agent->failure) };

		vec_push(&agents->past_failures, failure);
	}
	if (agent->job)
		agent->job->agent = NULL;
	for (size_t i = agents->jvms_seen.len; i-- > 0;)
		if (agents->jvms_seen.items[i] == agent)
			agents->jvms_seen.items[i] =
				agents->jvms_seen.items[--agents->jvms_seen.len];
	book_detach(&agents->book, &process->attached, &agent->attachment);
	free(agent);
}

/* --- the end of a run --- */

static void detach_done(struct worker_job *job)
{
	struct attach_job *attach = container_of(job, struct attach_job, job);

	attach->agents->attaching--;
	free(attach);
}

static void start_detach(struct agents *agents, const struct agent *agent)
{
	struct attach_job *attach = xcalloc(1, sizeof(*attach));

	attach->job.run = attach_run;
	attach->job.done = detach_done;
	attach->agents = agents;
	attach->pid = agent->process->pid;
	attach->options = "stop";
	agents->attaching++;
	worker_pool_submit(agents->pool, &attach->job);
}

/* Who does not answer holds the end of a run no longer than that. */
static void wait_for_jobs(struct agents *agents, uint64_t until_ns)
{
	wall_end_at(until_ns);
	while (agents->attaching && clock_now_ns() < until_ns) {
		worker_pool_reap(agents->pool);
		usleep(DETACH_STEP_US);
	}
}

void agents_hurry(void)
{
	wall_end_at(clock_now_ns() + LAST_ATTACH_NS);
}

void agents_detach(struct agents *agents)
{
	struct attachment **at;

	/* What was begun at the very end is loaded only now. */
	wait_for_jobs(agents, clock_now_ns() + LAST_ATTACH_NS);
	vec_for_each (at, &agents->book.all)
		if (agent_of(*at)->is_ours && !agent_of(*at)->process->exited)
			start_detach(agents, agent_of(*at));
	wait_for_jobs(agents, clock_now_ns() + DETACH_NS);
}

bool agents_has_failed(const struct agents *agents, const struct process *process)
{
	const struct agent *agent = find_agent(agents, process);

	return agent && agent->failure[0] &&
	       (agent->map_open || agent->attach == ATTACH_DONE ||
		agent->not_ready >= MOST_NOT_READY);
}

bool agents_busy(const struct agents *agents)
{
	return agents->busy_since_ns && clock_now_ns() - agents->busy_since_ns < BUSY_LIMIT_NS;
}

void agents_count(const struct agents *agents, uint32_t *ret_jvms, uint32_t *ret_with_agent)
{
	struct attachment **at;

	*ret_jvms = agents->past_jvms;
	*ret_with_agent = agents->past_with_agent;
	vec_for_each (at, &agents->book.all) {
		const struct agent *agent = agent_of(*at);

		*ret_jvms += agent->sampled;
		*ret_with_agent += agent->sampled && agent->had_map;
	}
}

void agents_for_each_failure(const struct agents *agents,
			     void (*fn)(uint32_t pid, const char *why, void *data), void *data)
{
	const struct past_failure *past;
	struct attachment **at;

	vec_for_each (past, &agents->past_failures)
		fn(past->pid, past->why, data);
	vec_for_each (at, &agents->book.all)
		if (agent_of(*at)->failure[0])
			fn(agent_of(*at)->process->pid, agent_of(*at)->failure, data);
}
