/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A pipeline whose records and whose clock are the test's, and its recording as text. Needs no
 * root. Processes are those that a test's side-band makes: their pids are larger than any that the
 * kernel gives, so that /proc knows nothing of them. Included once per test.
 */
#ifndef HOSTPROF_TESTS_PIPELINE_FIXTURE_H
#define HOSTPROF_TESTS_PIPELINE_FIXTURE_H

#include "test.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/strbuf.h"
#include "fake_capture.h"
#include "fake_clock.h"
#include "session/pipeline.h"
#include "session/pipeline_apply.h"
#include "session/pipeline_arrive.h"
#include "sink/recording_sink.h"

/* PID_MAX_LIMIT of include/linux/threads.h is 4 * 1024 * 1024. */
#define PID_A  5000001U
#define PID_B  5000002U
#define PID_C  5000003U
#define MAPPED 0x10000000ULL /* code of such a process */
#define KERNEL 0xffffffff81000000ULL

#define MS NSEC_PER_MSEC
/* A record is surely applied this long after it was made. */
#define HELD_MS 350

struct fixture {
	struct capture *capture;
	struct capture_event events[2];
	struct capture_options options;
	struct memory_plan plan;
	struct pipeline_options pipeline_options;
	uint64_t chunk_bytes, chunk_ns; /* of the recording; 0: the default */
	struct recording_writer *writer;
	struct pipeline pipeline;
	int fd;
	uint64_t start_ns;
	struct profile read; /* by read_back() */
	struct strbuf text;
};

static inline void open_pipeline(struct fixture *f)
{
	struct err err = { 0 };

	assert_int_equal(recording_writer_new(f->fd, &f->writer, &err), 0);
	recording_writer_limit_chunks(f->writer, f->chunk_bytes, f->chunk_ns);
	sinks_add(&f->pipeline_options.sinks, recording_sink(f->writer));
	if (pipeline_init(&f->pipeline, f->capture, registry_new(), &f->pipeline_options, &err) <
		    0 ||
	    pipeline_begin(&f->pipeline, "hostprof record", &err) < 0)
		fail_msg("%s", err.text);
	/* Processes that are not in /proc are looked for now, and in ten seconds. */
	pipeline_turn(&f->pipeline);
}

/* Options may be changed before open_pipeline(). */
static inline int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	fake_begin();
	f->start_ns = clock_now_ns();
	f->capture = fake_capture_new();
	f->events[0] =
		(struct capture_event){ .name = "cpu", .unit = "nanoseconds", .period = 100 };
	f->events[1] = (struct capture_event){ .name = "faults", .unit = "count", .period = 64 };
	f->capture->options = &f->options;
	f->options = (struct capture_options){ .events = f->events, .event_count = 2 };
	memory_plan_begin(&f->plan, 0);
	f->fd = memfd_create("recording", MFD_CLOEXEC);
	f->pipeline_options = (struct pipeline_options){ .capture = &f->options, .plan = &f->plan };
	profile_init(&f->read);
	return f->fd < 0 ? -1 : 0;
}

static inline int teardown(void **state)
{
	struct fixture *f = *state;

	pipeline_release(&f->pipeline);
	recording_writer_free(f->writer);
	profile_release(&f->read);
	strbuf_release(&f->text);
	fake_capture_free(f->capture);
	close(f->fd);
	free(f);
	return 0;
}

/* --- records ---------------------------------------------------------------------------------- */

/* Times are in ms since the start. */
static inline uint64_t at_ms(const struct fixture *f, uint64_t ms)
{
	return f->start_ns + ms * MS;
}

static inline uint64_t now_ms(const struct fixture *f)
{
	return (clock_now_ns() - f->start_ns) / MS;
}

static inline void put_side(struct fixture *f, uint64_t ms, struct side_event event)
{
	event.time_ns = at_ms(f, ms);
	if (!event.tid)
		event.tid = event.pid;
	fake_put_side(f->capture, &event);
}

/* Code called "[NAME]" at MAPPED. */
static inline void put_mmap(struct fixture *f, uint64_t ms, uint32_t pid, const char *name)
{
	put_side(f, ms,
		 (struct side_event){ .kind = SIDE_MMAP,
				      .pid = pid,
				      .addr = MAPPED,
				      .len = 0x1000,
				      .name = name });
}

static inline void put_fork(struct fixture *f, uint64_t ms, uint32_t pid, uint32_t ppid)
{
	put_side(f, ms,
		 (struct side_event){ .kind = SIDE_FORK, .pid = pid, .ppid = ppid, .ptid = ppid });
}

static inline void put_named(struct fixture *f, uint64_t ms, enum side_kind kind, uint32_t pid,
			     const char *name)
{
	put_side(f, ms, (struct side_event){ .kind = kind, .pid = pid, .name = name });
}

/* A process that runs a program NAME whose code is "[CODE]". */
static inline void put_process(struct fixture *f, uint64_t ms, uint32_t pid, const char *name,
			       const char *code)
{
	put_fork(f, ms, pid, pid + 100);
	put_named(f, ms, SIDE_EXEC, pid, name);
	put_mmap(f, ms, pid, code);
}

struct sample_spec {
	uint32_t pid, tid; /* tid 0: the first thread */
	uint32_t exec_id;
	uint64_t weight; /* 0: 100 */
	uint8_t event, reason, in_user;
	uint64_t object;       /* of an allocation; 0: none */
	uint64_t object_bytes; /* likewise: what it weighs then */
	uint64_t interval;     /* likewise; of a lock the chance */
	uint64_t class_id;     /* likewise; or its address */
	uint64_t virtual_id;   /* of a virtual thread; 0: none */
	uint64_t owner;	       /* of a lock */
	const char *comm;      /* NULL: "kernel's" */
	uint8_t flags, state, cause, text, unmounted;
	uint8_t waker;		     /* enum wire_waker; 0: of no waker */
	uint32_t woken_tid;	     /* likewise */
	uint32_t wait_number;	     /* of a wait for a lock, and of its waker */
	uint64_t kernel[4], user[4]; /* words, leaf first, up to the first 0 */
};

static inline size_t count_words(const uint64_t words[4])
{
	size_t n = 0;

	while (n < 4 && words[n])
		n++;
	return n;
}

static inline void fill_sample(const struct fixture *f, uint64_t ms, const struct sample_spec *spec,
			       struct wire_sample *sample)
{
	size_t kernel = count_words(spec->kernel), user = count_words(spec->user);
	const char *comm = spec->comm ? spec->comm : "kernel's";

	*sample = (struct wire_sample){
		.size = (uint32_t)(sizeof(*sample) + 8 * (kernel + user)),
		.kind = WIRE_SAMPLE,
		.event = spec->event,
		.reason = spec->reason,
		.time_ns = at_ms(f, ms),
		.weight = spec->weight ? spec->weight : 100,
		.start_ns = spec->pid,
		.tgid = spec->pid,
		.tid = spec->tid ? spec->tid : spec->pid,
		.exec_id = spec->exec_id,
		.in_user = spec->in_user,
		.flags = spec->flags,
		.state = spec->state,
		.cause = spec->cause,
		.text = spec->text,
		.unmounted = spec->unmounted,
		.kernel_frames = (uint16_t)kernel,
		.user_words = (uint16_t)user,
		.user_frames = (uint32_t)user,
		.alloc_object = spec->object,
		.alloc_size = spec->object_bytes,
		.alloc_interval = spec->interval,
		.alloc_class = spec->class_id,
		.virtual_id = spec->virtual_id,
		.waker = spec->waker,
		.woken_tid = spec->woken_tid,
		.wait_number = spec->wait_number,
		.lock_owner = spec->owner,
	};
	memcpy(sample->comm, comm, MIN(strlen(comm), sizeof(sample->comm)));
	memcpy(sample->words, spec->kernel, 8 * kernel);
	memcpy(sample->words + kernel, spec->user, 8 * user);
}

static inline void put_sample(struct fixture *f, uint64_t ms, struct sample_spec spec)
{
	union {
		struct wire_sample sample;
		char space[sizeof(struct wire_sample) + 8 * sizeof(uint64_t)];
	} u;

	fill_sample(f, ms, &spec, &u.sample);
	fake_put_sample(f->capture, &u.sample);
}

/* One frame at MAPPED, exact. */
static inline void put_leaf(struct fixture *f, uint64_t ms, uint32_t pid)
{
	put_sample(f, ms,
		   (struct sample_spec){ .pid = pid, .user = { MAPPED | WIRE_FRAME_EXACT } });
}

/* --- turns ------------------------------------------------------------------------------------ */

/* As the recorder does: a turn every 50 ms; for workers the clock waits. */
static inline void run_until(struct fixture *f, uint64_t ms)
{
	while (now_ms(f) < ms) {
		fake_advance(MIN(50 * MS, at_ms(f, ms) - clock_now_ns()));
		pipeline_turn(&f->pipeline);
		worker_pool_drain(f->pipeline.pool);
	}
}

static inline void flush(struct fixture *f)
{
	struct err err = { 0 };

	if (pipeline_flush(&f->pipeline, &err) < 0)
		fail_msg("%s", err.text);
}

static inline void read_back(struct fixture *f)
{
	const struct recording_read_options options = { 0 };
	struct err err = { 0 };
	bool truncated = true;

	profile_release(&f->read);
	profile_init(&f->read);
	if (recording_read(f->fd, &options, &f->read, &truncated, &err) < 0)
		fail_msg("%s", err.text);
	assert_false(truncated);
}

static inline void finish(struct fixture *f)
{
	struct err err = { 0 };

	if (pipeline_finish(&f->pipeline, &err) < 0)
		fail_msg("%s", err.text);
	read_back(f);
}

/* --- text ------------------------------------------------------------------------------------- */

static inline void add_frame(struct strbuf *out, const struct profile *p, uint32_t id)
{
	const struct profile_frame *frame = profile_get_frame(p, id);

	if (frame->kind == FRAME_KERNEL) /* which names there are is the kernel's business */
		strbuf_addf(out, " k:%" PRIx64, (uint64_t)(frame->address - KERNEL));
	else
		strbuf_addf(out, " %s", profile_get_string(p, frame->name));
}

static inline void add_sample(struct strbuf *out, const struct fixture *f, const struct profile *p,
			      const struct profile_sample *sample)
{
	static const char *const states[] = { "user",	 "kernel", "sleeping", "unknown",
					      "blocked", "queued", "stopped" };
	const struct profile_thread *thread = profile_get_thread(p, sample->thread);
	const struct profile_process *process = profile_get_process(p, thread->process);
	struct profile_stack stack = profile_get_stack(p, sample->stack);

	strbuf_addf(out, "%" PRIu64 " %s %" PRIu64 " %s %s.%u/%s.%u:",
		    (uint64_t)((sample->time_ns - f->start_ns) / MS),
		    profile_get_string(p, profile_get_event(p, sample->event)->name),
		    sample->weight, states[sample->state], profile_get_string(p, process->name),
		    process->pid - PID_A + 1, profile_get_string(p, thread->name),
		    thread->tid - PID_A + 1);
	for (uint32_t i = stack.len; i-- > 0;)
		add_frame(out, p, stack.frames[i]);
	strbuf_addch(out, '\n');
}

/*
 * The samples of a profile, a line each, in order: "MS EVENT WEIGHT STATE PROCESS.N/THREAD.N: frames",
 * root first, with PID_A as number 1.
 */
static inline const char *samples_of(struct fixture *f, const struct profile *p)
{
	strbuf_reset(&f->text);
	for (size_t i = 0; i < p->samples.len; i++)
		add_sample(&f->text, f, p, &p->samples.items[i]);
	return strbuf_str(&f->text);
}

/* Those that are applied and not flushed yet. */
static inline const char *applied(struct fixture *f)
{
	return samples_of(f, &f->pipeline.profile);
}

/* Quality: "PROCESS.N EVENT samples complete weight lost lost_weight", a line each. */
static inline const char *quality_of(struct fixture *f, const struct profile *p)
{
	const struct profile_quality *q;

	strbuf_reset(&f->text);
	vec_for_each (q, &p->quality) {
		const struct profile_process *process = profile_get_process(p, q->process);

		strbuf_addf(&f->text,
			    "%s.%u %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
			    "\n",
			    profile_get_string(p, process->name), process->pid - PID_A + 1,
			    profile_get_string(p, profile_get_event(p, q->event)->name), q->samples,
			    q->complete, q->weight, q->lost, q->lost_weight);
	}
	return strbuf_str(&f->text);
}

/* The counter of this name, of all details; 0: none. */
static inline uint64_t counter_of(const struct profile *p, const char *name)
{
	const struct profile_counter *counter;
	uint64_t sum = 0;

	vec_for_each (counter, &p->counters)
		if (!strcmp(profile_get_string(p, counter->name), name))
			sum += counter->value;
	return sum;
}

#endif
