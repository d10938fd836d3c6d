// SPDX-License-Identifier: Apache-2.0
/* What the pipeline does of JVMs: agents, names of threads, layouts for the unwinder. */
#include "pipeline_parts.h"
#include "process/proc.h"
#include "session/pipeline_outside.h"

static void put_libjvm(struct fixture *f, uint32_t pid, const char *path)
{
	put_side(f, 0,
		 (struct side_event){ .kind = SIDE_MMAP,
				      .pid = pid,
				      .addr = MAPPED,
				      .len = 0x1000,
				      .name = path });
}

static void a_jvms_agent_is_looked_for(void **state)
{
	struct fixture *f = *state;

	begin(f);
	put_libjvm(f, PID_A, "/jdk/lib/server/libjvm.so"); /* but it is none */
	pipeline_drain(&f->pipeline);
	noted();
	assert_true(pipeline_apply_until(&f->pipeline, UINT64_MAX));
	assert_string_equal(noted(), "");
	parts.is_jvm = true;
	put_libjvm(f, PID_A, "/jdk/lib/libjava.so");
	put_libjvm(f, PID_A, "/jdk/lib/server/libjvm.so (deleted)");
	put_libjvm(f, PID_B, "/libjvm.so");
	pipeline_drain(&f->pipeline);
	noted();
	assert_true(pipeline_apply_until(&f->pipeline, UINT64_MAX));
	assert_string_equal(noted(), "agent of 1, a target\nagent of 2, a target\n");
}

static void only_targets_agents_are_used(void **state)
{
	static const uint32_t pids[] = { PID_C, PID_B };
	struct fixture *f = *state;

	parts.is_jvm = true;
	f->options.pids = pids;
	f->options.pid_count = 2;
	begin(f);
	put_libjvm(f, PID_A, "/libjvm.so");
	put_libjvm(f, PID_B, "/libjvm.so");
	pipeline_drain(&f->pipeline);
	noted();
	assert_true(pipeline_apply_until(&f->pipeline, UINT64_MAX));
	assert_string_equal(noted(), "agent of 1\nagent of 2, a target\n");
}

/* Whether it is in the cgroup when it is first met, or is moved there later; nobody is told of that. */
static void jvms_of_a_cgroup(void **state)
{
	const uint32_t self = (uint32_t)getpid(), parent = (uint32_t)getppid();
	_cleanup_free_ char *cgroup = NULL;
	struct fixture *f = *state;
	struct process *process;
	char expected[128];

	assert_int_equal(proc_read_cgroup(self, &cgroup), 0);
	parts.is_jvm = true;
	f->options.cgroup_path = "/sys/fs/cgroup/a";
	f->capture->cgroup = cgroup;
	begin(f);
	f->pipeline.outside_interval = 4096;
	put_libjvm(f, self, "/libjvm.so");
	pipeline_drain(&f->pipeline);
	noted();
	assert_true(pipeline_apply_until(&f->pipeline, UINT64_MAX));
	snprintf(expected, sizeof(expected),
		 "agent of %u, a target\nsee allocations of %u by 4096\n", number(self),
		 number(self));
	assert_string_equal(noted(), expected);
	/* It is elsewhere. */
	f->capture->cgroup = "/elsewhere";
	put_libjvm(f, parent, "/libjvm.so");
	put_libjvm(f, PID_A, "/libjvm.so"); /* has gone */
	pipeline_drain(&f->pipeline);
	noted();
	assert_true(pipeline_apply_until(&f->pipeline, UINT64_MAX));
	snprintf(expected, sizeof(expected), "agent of %u\nagent of 1\n", number(parent));
	assert_string_equal(noted(), expected);
	pipeline_outside_poll(&f->pipeline);
	assert_string_equal(noted(), "");
	/* Not yet: each look costs something. */
	f->capture->cgroup = cgroup;
	pipeline_outside_poll(&f->pipeline);
	assert_string_equal(noted(), "");
	f->pipeline.strangers_ns = 0;
	pipeline_outside_poll(&f->pipeline);
	snprintf(expected, sizeof(expected),
		 "agent of %u, a target\nsee allocations of %u by 4096\n", number(parent),
		 number(parent));
	assert_string_equal(noted(), expected);
	/* Once. */
	f->pipeline.strangers_ns = 0;
	pipeline_outside_poll(&f->pipeline);
	assert_string_equal(noted(), "");
	/* One that has gone is not asked for. */
	assert_int_equal(f->pipeline.strangers.len, 1);
	process = registry_find(f->pipeline.registry, PID_A);
	pipeline_outside_forget(&f->pipeline, process);
	assert_int_equal(f->pipeline.strangers.len, 0);
}

static void a_jvms_thread_has_its_name(void **state)
{
	struct fixture *f = *state;
	const struct profile *p = &f->pipeline.profile;
	const struct profile_process *process;

	parts.is_jvm = true;
	parts.thread_name = "main thread of Java";
	begin(f);
	put_sample(f, 5, (struct sample_spec){ .pid = PID_A, .tid = PID_B, .comm = "java" });
	pipeline_drain(&f->pipeline);
	noted();
	assert_true(pipeline_apply_until(&f->pipeline, UINT64_MAX));
	assert_string_equal(noted(), "stack of 1\nsampled 1\n");
	assert_string_equal(applied(f), "5 cpu 100 kernel java.1/main thread of Java.2: frame\n");
	assert_int_equal(profile_get_thread(p, 0)->java_tid, 31);
	process = profile_get_process(p, 0);
	assert_string_equal(profile_get_string(p, process->jvm_version), "17.0.9");
	assert_string_equal(profile_get_string(p, process->main_class), "a.Main");
	/* It is a target once. */
	put_sample(f, 6, (struct sample_spec){ .pid = PID_A, .tid = PID_B, .comm = "java" });
	pipeline_drain(&f->pipeline);
	noted();
	assert_true(pipeline_apply_until(&f->pipeline, UINT64_MAX));
	assert_string_equal(noted(), "stack of 1\n");
}

/* Its first samples are those of the launcher. */
static void a_process_that_becomes_a_jvm(void **state)
{
	struct fixture *f = *state;

	begin(f);
	put_sample(f, 5, (struct sample_spec){ .pid = PID_A, .tid = PID_A, .comm = "java" });
	pipeline_drain(&f->pipeline);
	noted();
	assert_true(pipeline_apply_until(&f->pipeline, UINT64_MAX));
	assert_string_equal(noted(), "stack of 1\n");
	parts.is_jvm = true;
	put_sample(f, 6, (struct sample_spec){ .pid = PID_A, .tid = PID_A, .comm = "java" });
	pipeline_drain(&f->pipeline);
	noted();
	assert_true(pipeline_apply_until(&f->pipeline, UINT64_MAX));
	assert_string_equal(noted(), "stack of 1\nsampled 1\n");
}

/* The launcher's first sample comes before the registry knows that it is a JVM. */
static void a_jvm_that_is_just_starting(void **state)
{
	struct fixture *f = *state;
	const struct profile *p = &f->pipeline.profile;

	parts.is_libjvm = parts.jvm_is_new = true;
	begin(f);
	put_leaf(f, 5, PID_A);
	pipeline_drain(&f->pipeline);
	assert_true(pipeline_apply_until(&f->pipeline, UINT64_MAX));
	assert_string_equal(profile_get_string(p, profile_get_process(p, 0)->jvm_version),
			    "17.0.9");
	/* And that is known for good. */
	noted();
	put_leaf(f, 6, PID_A);
	pipeline_drain(&f->pipeline);
	noted();
	assert_true(pipeline_apply_until(&f->pipeline, UINT64_MAX));
	assert_string_equal(noted(), "stack of 1\n");
}

static void layouts_for_the_unwinder(void **state)
{
	struct fixture *f = *state;
	const struct mapping libjvm = { .start = 1 };
	struct wire_jvm wire;

	begin(f);
	assert_int_equal(parts.jvm_source.read(PID_A, &libjvm, false, &wire, parts.jvm_source.data),
			 -ENODATA);
	parts.jvm_is_new = true;
	assert_int_equal(parts.jvm_source.read(PID_A, &libjvm, true, &wire, parts.jvm_source.data),
			 0);
	assert_int_equal(wire.serial, 44);
	assert_string_equal(noted(), "find jvm 1\nfind jvm 1 or make it\nwire now\n");
}

static void jvms_that_run_already(void **state)
{
	const uint32_t self[] = { (uint32_t)getpid() };
	struct fixture *f = *state;
	char expected[64];

	f->options.pids = self;
	f->options.pid_count = 1;
	begin(f);
	snapshot(f);
	assert_string_equal(noted(), "");
	parts.is_jvm = true;
	snapshot(f);
	snprintf(expected, sizeof(expected), "agent of %u, a target\n", number(self[0]));
	assert_non_null(strstr(noted(), expected));
}

static struct strbuf unseen = STRBUF_INIT;

static void note_unseen(uint32_t pid, const char *why)
{
	strbuf_addf(&unseen, "%u %s\n", number(pid), why);
}

/* Without agents: it is tried until it has started; what cannot be seen is told once. */
static void allocations_without_agents(void **state)
{
	const uint32_t self[] = { (uint32_t)getpid(), (uint32_t)getppid() };
	struct fixture *f = *state;
	char tried[64], told[64];

	f->options.pids = self;
	f->options.pid_count = 2;
	begin(f);
	parts.is_jvm = true;
	f->pipeline.outside_interval = 4096;
	f->pipeline.unseen = note_unseen;
	snprintf(tried, sizeof(tried), "see allocations of %u by 4096\n", number(self[0]));
	snprintf(told, sizeof(told), "%u no symbols\n", number(self[0]));
	parts.outside = -EAGAIN;
	put_libjvm(f, self[0], "/libjvm.so");
	pipeline_drain(&f->pipeline);
	assert_true(pipeline_apply_until(&f->pipeline, UINT64_MAX));
	assert_non_null(strstr(noted(), tried));
	pipeline_outside_poll(&f->pipeline);
	assert_string_equal(noted(), tried);
	assert_int_equal(f->pipeline.alloc_sources, 0);
	assert_string_equal(strbuf_str(&unseen), "");
	parts.outside = -ENODATA;
	pipeline_outside_poll(&f->pipeline);
	pipeline_outside_poll(&f->pipeline);
	assert_string_equal(noted(), tried);
	assert_string_equal(strbuf_str(&unseen), told);
	assert_int_equal(f->pipeline.alloc_sources, 0);
	strbuf_release(&unseen);
	/* Another one, which has them. */
	parts.outside = 0;
	put_libjvm(f, self[1], "/libjvm.so");
	pipeline_drain(&f->pipeline);
	assert_true(pipeline_apply_until(&f->pipeline, UINT64_MAX));
	pipeline_outside_poll(&f->pipeline);
	assert_int_equal(f->pipeline.alloc_sources, 1);
	assert_true(
		pipeline_outside_sees(&f->pipeline, registry_find(f->pipeline.registry, self[1])));
}

/* With agents AllocTracer is asked only where the agent is of no use, and then instead of it. */
static void an_agent_that_cannot_sample(void **state)
{
	const uint32_t self[] = { (uint32_t)getpid() };
	struct fixture *f = *state;
	struct process *process;
	char tried[64];

	f->options.pids = self;
	f->options.pid_count = 1;
	begin(f);
	parts.is_jvm = true;
	f->pipeline.outside_interval = 4096;
	f->pipeline.samples_allocations = true;
	snprintf(tried, sizeof(tried), "see allocations of %u by 4096\n", number(self[0]));
	put_libjvm(f, self[0], "/libjvm.so");
	pipeline_drain(&f->pipeline);
	assert_true(pipeline_apply_until(&f->pipeline, UINT64_MAX));
	process = registry_find(f->pipeline.registry, self[0]);
	pipeline_outside_note_probed(&f->pipeline, process, A_POINTER(jvm));
	pipeline_outside_poll(&f->pipeline);
	assert_null(strstr(noted(), tried));
	assert_false(pipeline_outside_sees(&f->pipeline, process));
	assert_int_equal(f->pipeline.alloc_sources, 1);
	parts.agent_failed = true;
	pipeline_outside_poll(&f->pipeline);
	pipeline_outside_poll(&f->pipeline);
	assert_string_equal(noted(), tried);
	assert_true(pipeline_outside_sees(&f->pipeline, process));
	assert_int_equal(f->pipeline.alloc_sources, 1);
	/* Known already: nothing is opened twice. */
	put_libjvm(f, self[0], "/libjvm.so");
	pipeline_drain(&f->pipeline);
	assert_true(pipeline_apply_until(&f->pipeline, UINT64_MAX));
	assert_null(strstr(noted(), tried));
}

/* The agent is loaded, its code map is read: its probe is opened, but where AllocTracer tells of the same. */
static void one_source_of_each_jvm(void **state)
{
	const uint32_t self[] = { (uint32_t)getpid() };
	struct fixture *f = *state;
	struct process *process;
	struct err err = { 0 };
	char probed[64];

	f->options.pids = self;
	f->options.pid_count = 1;
	begin(f);
	parts.is_jvm = true;
	f->pipeline.outside_interval = 4096;
	snprintf(probed, sizeof(probed), "probe the agent of %u\n", number(self[0]));
	put_libjvm(f, self[0], "/libjvm.so");
	pipeline_drain(&f->pipeline);
	assert_true(pipeline_apply_until(&f->pipeline, UINT64_MAX));
	process = registry_find(f->pipeline.registry, self[0]);
	noted();
	/* It was seen from outside before it had an agent, and stays so. */
	assert_true(pipeline_outside_sees(&f->pipeline, process));
	f->pipeline.samples_allocations = true;
	assert_int_equal(parts.hooks.opened(process, NULL, parts.hooks.data, &err), 0);
	assert_string_equal(noted(), "");
	assert_int_equal(f->pipeline.alloc_sources, 1);
	/* Else the agent is what tells of it, once. */
	f->pipeline.outside.items[0].seen = false;
	f->pipeline.alloc_sources = 0;
	parts.probed = -ENODATA;
	assert_int_equal(parts.hooks.opened(process, NULL, parts.hooks.data, &err), -ENODATA);
	assert_int_equal(f->pipeline.alloc_sources, 0);
	parts.probed = 0;
	noted();
	assert_int_equal(parts.hooks.opened(process, NULL, parts.hooks.data, &err), 0);
	assert_string_equal(noted(), probed);
	assert_int_equal(parts.hooks.opened(process, NULL, parts.hooks.data, &err), 0);
	assert_int_equal(f->pipeline.alloc_sources, 1);
	/* Who wants no allocations opens none. */
	f->pipeline.samples_allocations = false;
	noted();
	assert_int_equal(parts.hooks.opened(process, NULL, parts.hooks.data, &err), 0);
	assert_string_equal(noted(), "");
}

/* What an old sampler misjudges is seen beside its agent, where that can be, and ends with the process. */
static void beside_an_agent(void **state)
{
	const uint32_t self[] = { (uint32_t)getpid() };
	struct fixture *f = *state;
	struct process *process;
	char beside[64], none[64];

	f->options.pids = self;
	f->options.pid_count = 1;
	begin(f);
	parts.is_jvm = true;
	f->pipeline.outside_interval = 4096;
	f->pipeline.samples_allocations = true;
	snprintf(beside, sizeof(beside), "see allocations of %u by 4096 beside its agent\n",
		 number(self[0]));
	snprintf(none, sizeof(none), "see none of %u\n", number(self[0]));
	put_libjvm(f, self[0], "/libjvm.so");
	pipeline_drain(&f->pipeline);
	assert_true(pipeline_apply_until(&f->pipeline, UINT64_MAX));
	process = registry_find(f->pipeline.registry, self[0]);
	parts.sampler_is_old = true;
	noted();
	pipeline_outside_note_probed(&f->pipeline, process, A_POINTER(jvm));
	assert_string_equal(noted(), beside);
	/* Its samples are the agent's. */
	assert_false(pipeline_outside_sees(&f->pipeline, process));
	assert_int_equal(f->pipeline.alloc_sources, 1);
	pipeline_outside_forget(&f->pipeline, process);
	assert_string_equal(noted(), none);
	parts.sampler_is_old = false;
}

/* Objects that are to be followed are the agent's, all of them; and a newer sampler is right. */
static void not_beside_an_agent(void **state)
{
	const uint32_t self[] = { (uint32_t)getpid() };
	struct fixture *f = *state;
	struct process *process;

	f->options.pids = self;
	f->options.pid_count = 1;
	begin(f);
	parts.is_jvm = true;
	f->pipeline.outside_interval = 4096;
	f->pipeline.samples_allocations = true;
	put_libjvm(f, self[0], "/libjvm.so");
	pipeline_drain(&f->pipeline);
	assert_true(pipeline_apply_until(&f->pipeline, UINT64_MAX));
	process = registry_find(f->pipeline.registry, self[0]);
	noted();
	pipeline_outside_note_probed(&f->pipeline, process, A_POINTER(jvm));
	assert_string_equal(noted(), "");
	pipeline_outside_forget(&f->pipeline, process);
	pipeline_add_jvm(&f->pipeline, process);
	noted();
	parts.sampler_is_old = true;
	f->pipeline.live_mode = LIVE_ON;
	pipeline_outside_note_probed(&f->pipeline, process, A_POINTER(jvm));
	assert_string_equal(noted(), "");
	parts.sampler_is_old = false;
}

/* What is forgotten late is not its pid's next owner. */
static void a_pid_that_another_jvm_has(void **state)
{
	const uint32_t self[] = { (uint32_t)getpid() };
	struct fixture *f = *state;
	struct process *old;
	char none[64];

	f->options.pids = self;
	f->options.pid_count = 1;
	begin(f);
	parts.is_jvm = true;
	f->pipeline.outside_interval = 4096;
	snprintf(none, sizeof(none), "see none of %u\n", number(self[0]));
	put_libjvm(f, self[0], "/libjvm.so");
	pipeline_drain(&f->pipeline);
	assert_true(pipeline_apply_until(&f->pipeline, UINT64_MAX));
	old = registry_find(f->pipeline.registry, self[0]);
	registry_fork(f->pipeline.registry, clock_now_ns(), self[0], (uint32_t)getppid());
	pipeline_add_jvm(&f->pipeline, registry_find(f->pipeline.registry, self[0]));
	noted();
	pipeline_outside_forget(&f->pipeline, old);
	assert_string_equal(noted(), "");
	pipeline_outside_forget(&f->pipeline, registry_find(f->pipeline.registry, self[0]));
	assert_string_equal(noted(), none);
}

/* At once, before the sample's turn. */
static void names_of_threads_are_read_at_once(void **state)
{
	struct fixture *f = *state;
	const struct side_event begins = {
		.kind = SIDE_FORK, .pid = PID_A, .tid = PID_B, .ppid = PID_A, .ptid = PID_A
	};

	begin(f);
	parts.tells_threads = true;
	put_process(f, 1, PID_A, "java", "code");
	put_leaf(f, 1, PID_A); /* of no JVM yet */
	pipeline_drain(&f->pipeline);
	assert_null(strstr(noted(), "thread 1 at 1\n"));
	assert_true(pipeline_apply_until(&f->pipeline, UINT64_MAX));
	parts.is_jvm = true;
	noted();
	put_side(f, 2, begins);
	put_side(f, 3,
		 (struct side_event){
			 .kind = SIDE_COMM, .pid = PID_A, .tid = PID_B, .name = "worker" });
	put_side(f, 4, (struct side_event){ .kind = SIDE_LOST, .lost = 1 });
	put_leaf(f, 5, PID_A);
	pipeline_drain(&f->pipeline);
	assert_string_equal(noted(), "grant\nthread 2 of 1 begins at 2\n"
				     "thread 2 of 1 is renamed at 3\n"
				     "news of threads are lost at 4\n"
				     "arrive 1\nthread 1 at 5\nunwinder turn\ngrant\n");
	/* Its sample has the name of who runs there. */
	put_sample(f, 6,
		   (struct sample_spec){ .pid = PID_A, .virtual_id = 4711, .user = { MAPPED } });
	pipeline_drain(&f->pipeline);
	assert_string_equal(noted(), "grant\narrive 1\nunwinder turn\ngrant\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_jvms_agent_is_looked_for),
		TEST(only_targets_agents_are_used),
		TEST(a_jvms_thread_has_its_name),
		TEST(a_process_that_becomes_a_jvm),
		TEST(a_jvm_that_is_just_starting),
		TEST(layouts_for_the_unwinder),
		TEST(jvms_that_run_already),
		TEST(allocations_without_agents),
		TEST(an_agent_that_cannot_sample),
		TEST(jvms_of_a_cgroup),
		TEST(one_source_of_each_jvm),
		TEST(beside_an_agent),
		TEST(not_beside_an_agent),
		TEST(a_pid_that_another_jvm_has),
		TEST(names_of_threads_are_read_at_once),
	};

	return cmocka_run_group_tests_name("pipeline_jvms", tests, NULL, NULL);
}
