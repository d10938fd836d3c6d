/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Profiles by hand for the tests of the flame graph page:
 * make_page small|threads|many|hostile|problems|empty|big OUT.html|OUT.svg
 */
#include <stdio.h>
#include <string.h>

#include "../unit/profile_fixture.h"
#include "base/alloc.h"
#include "base/err.h"
#include "output/view.h"

#define PERIOD	   10000000 /* 100 Hz */
#define BIG_STACKS 21000
#define BIG_DEPTH  120
#define BIG_NAMES  20000

struct maker {
	struct profile p;
	uint32_t cpu, alloc, live;
	bool threads;
	const char *title;
};

static uint32_t add_event(struct profile *p, const char *name, const char *unit, uint64_t period)
{
	struct profile_event e = { profile_string(p, name), profile_string(p, unit), period };

	return profile_event(p, &e);
}

static uint32_t add_thread(struct profile *p, const char *comm, uint32_t pid, uint32_t tid,
			   const char *thread_name, const char *main_class)
{
	struct profile_process proc = { .pid = pid, .name = profile_string(p, comm) };
	struct profile_thread t = { .tid = tid, .name = profile_string(p, thread_name) };

	if (main_class) {
		proc.jvm_version = profile_string(p, "17.0.9+9-Debian-1deb12u1");
		proc.main_class = profile_string(p, main_class);
	}
	t.process = profile_process(p, &proc);
	return profile_thread(p, &t);
}

static void add(struct maker *m, uint32_t event, uint32_t thread, uint64_t count, uint64_t weight,
		uint32_t stack)
{
	struct profile_sample s = {
		.event = event, .thread = thread, .count = count, .weight = weight, .stack = stack
	};

	profile_add(&m->p, &s);
}

static void add_objects(struct maker *m, uint32_t event, uint32_t thread, uint64_t count,
			uint64_t weight, uint64_t objects, uint32_t stack)
{
	add(m, event, thread, count, weight, stack);
	m->p.samples.items[m->p.samples.len - 1].objects = objects;
}

static uint32_t stack_of(struct profile *p, const uint32_t *root_first, uint32_t len)
{
	uint32_t leaf_first[BIG_DEPTH + 1];

	for (uint32_t i = 0; i < len; i++)
		leaf_first[i] = root_first[len - 1 - i];
	return profile_stack(p, leaf_first, len);
}

#define STACK(p, ...) \
	stack_of(p, (uint32_t[]){ __VA_ARGS__ }, sizeof((uint32_t[]){ __VA_ARGS__ }) / 4)

static void add_quality(struct maker *m, uint32_t thread, uint64_t samples, uint64_t complete,
			uint64_t lost)
{
	struct profile_quality q = { .process = profile_get_thread(&m->p, thread)->process,
				     .event = m->cpu,
				     .samples = samples,
				     .complete = complete,
				     .lost = lost,
				     .weight = samples * PERIOD };

	profile_add_quality(&m->p, &q);
}

static void make_header(struct maker *m)
{
	struct profile *p = &m->p;

	p->host = profile_string(p, "workshop");
	p->command = profile_string(p, "hostprof record -d 10 -o x.html");
	p->start_wall_ns = 1767225600ULL * 1000000000;
	p->duration_ns = 10000000000;
	m->cpu = add_event(p, "cpu", "nanoseconds", PERIOD);
}

/*
 * java-4242: 700 samples, one method in three tiers, kernel under Java; nginx-100: 300 samples with
 * "work" nested in "work".
 */
static void make_small(struct maker *m)
{
	struct profile *p = &m->p;
	uint32_t java = add_thread(p, "java", 4242, 4243, "http-worker-1", "org.example.Shop");
	uint32_t gc = add_thread(p, "java", 4242, 4250, "GC Thread#0", "org.example.Shop");
	uint32_t nginx = add_thread(p, "nginx", 100, 100, "nginx", NULL);
	uint32_t libc =
		fixture_mapping(p, "/usr/lib/x86_64-linux-gnu/libc.so.6", "ab12", 0, 1 << 20);
	uint32_t libjvm =
		fixture_mapping(p, "/usr/lib/jvm/lib/server/libjvm.so", "cd34", 0, 1 << 24);
	uint32_t vmlinux = fixture_mapping(p, "[kernel]", "", 0, 1 << 24);
	uint32_t start = fixture_code(p, FRAME_NATIVE, "clone3", libc, 0x1000);
	uint32_t native = fixture_code(p, FRAME_CPP, "JavaThread::run()", libjvm, 0x2000);
	uint32_t run = fixture_java(p, FRAME_JAVA_INTERPRETED, "java.lang.Thread", "run", 833);
	uint32_t slow = fixture_java(p, FRAME_JAVA_INTERPRETED, "org.example.Shop", "place", 10);
	uint32_t warm = fixture_java(p, FRAME_JAVA_C1, "org.example.Shop", "place", 10);
	uint32_t hot = fixture_java(p, FRAME_JAVA_JIT, "org.example.Shop", "place", 10);
	uint32_t sum = fixture_java(p, FRAME_JAVA_INLINED, "org.example.Cart", "sum", 20);
	uint32_t read = fixture_code(p, FRAME_KERNEL, "vfs_read", vmlinux, 0x3000);
	uint32_t mark = fixture_code(p, FRAME_CPP, "G1ParTask::work(unsigned int)", libjvm, 0x4000);
	uint32_t main_fn = fixture_native(p, "main"), work = fixture_native(p, "work");
	uint32_t loop = fixture_native(p, "event_loop"), other = fixture_native(p, "parse_header");

	add(m, m->cpu, java, 50, 50ULL * PERIOD, STACK(p, start, native, run, slow, sum));
	add(m, m->cpu, java, 50, 50ULL * PERIOD, STACK(p, start, native, run, warm, sum));
	add(m, m->cpu, java, 300, 300ULL * PERIOD, STACK(p, start, native, run, hot, sum));
	add(m, m->cpu, java, 100, 100ULL * PERIOD, STACK(p, start, native, run, hot));
	add(m, m->cpu, java, 100, 100ULL * PERIOD, STACK(p, start, native, run, hot, read));
	add(m, m->cpu, gc, 100, 100ULL * PERIOD, STACK(p, start, mark));
	add(m, m->cpu, nginx, 150, 150ULL * PERIOD, STACK(p, main_fn, loop, work, other, work));
	add(m, m->cpu, nginx, 100, 100ULL * PERIOD, STACK(p, main_fn, loop, other));
	add(m, m->cpu, nginx, 50, 50ULL * PERIOD, STACK(p, main_fn, loop, work));
	m->alloc = add_event(p, "alloc", "bytes", 0);
	add_objects(m, m->alloc, java, 3, 30 << 20, 30, STACK(p, start, native, run, hot));
	add_objects(m, m->alloc, java, 9, 10 << 20, 70, STACK(p, start, native, run, hot, sum));
	m->live = add_event(p, "live", "bytes", 0);
	add_objects(m, m->live, java, 2, 5 << 20, 5, STACK(p, start, native, run, hot));
	add_quality(m, java, 700, 700, 0);
	add_quality(m, nginx, 300, 300, 0);
}

static void make_threads(struct maker *m)
{
	make_small(m);
	m->threads = true;
}

/* Ten short processes of one name beside one of another. */
static void make_many(struct maker *m)
{
	struct profile *p = &m->p;
	uint32_t main_fn = fixture_native(p, "main"), parse = fixture_native(p, "parse");

	for (uint32_t pid = 500; pid < 510; pid++)
		add(m, m->cpu, add_thread(p, "cc1", pid, pid, "cc1", NULL), 5, 5ULL * PERIOD,
		    STACK(p, main_fn, parse));
	add(m, m->cpu, add_thread(p, "make", 499, 499, "make", NULL), 20, 20ULL * PERIOD,
	    STACK(p, main_fn));
}

static void make_problems(struct maker *m)
{
	struct profile *p = &m->p;
	uint32_t broken = add_thread(p, "broken", 7, 7, "broken", NULL);
	uint32_t page = fixture_code(p, FRAME_MARK, "[unwind: page-not-resident]", PROFILE_NONE, 0);
	uint32_t depth = fixture_code(p, FRAME_MARK, "[unwind: depth]", PROFILE_NONE, 0);
	uint32_t work = fixture_native(p, "work"), whole = fixture_native(p, "whole");

	add(m, m->cpu, broken, 30, 30ULL * PERIOD, STACK(p, page, work));
	add(m, m->cpu, broken, 10, 10ULL * PERIOD, STACK(p, depth, work));
	add(m, m->cpu, broken, 60, 60ULL * PERIOD, STACK(p, whole, work));
	add_quality(m, broken, 100, 60, 17);
	profile_add_counter(p, "symbols.file-vanished", "/tmp/gone", 3);
}

/* Every name tries to become markup or script. */
static void make_hostile(struct maker *m)
{
	static const char *const names[] = {
		"</script><script>window.pwned=1</script>",
		"<img src=x onerror=\"window.pwned=2\">",
		"'\"><svg onload=window.pwned=3>",
		"{{script}}{{data}}",
		"]]><!--",
		"${window.pwned=4}`",
		"bad\xff\xfeutf8\x01\x1b",
		"__proto__",
		"right-to-left \xe2\x80\xae",
	};
	struct profile *p = &m->p;

	m->title = "</title><script>window.pwned=5</script>";
	p->host = profile_string(p, "<b id=evil>host</b>");
	p->command = profile_string(p, "</script><script>window.pwned=6</script>");
	for (uint32_t i = 0; i < ARRAY_SIZE(names); i++) {
		uint32_t t = add_thread(p, names[i], 100 + i, 100 + i, names[i], names[i]);
		uint32_t map = fixture_mapping(p, names[i], names[i], 0, 4096);
		uint32_t native = fixture_code(p, FRAME_NATIVE, names[i], map, 1);
		uint32_t java = fixture_java(p, FRAME_JAVA_JIT, names[i], names[i], 1);

		add(m, m->cpu, t, 10 + i, (10ULL + i) * PERIOD, STACK(p, native, java));
		add_quality(m, t, 10 + i, 10, 1);
		profile_add_counter(p, names[i], names[i], i + 1);
	}
	m->threads = true;
}

static void make_empty(struct maker *m)
{
	profile_release(&m->p);
	profile_init(&m->p);
}

static uint32_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (uint32_t)(*state >> 32);
}

static uint32_t big_frame(struct profile *p, uint32_t number)
{
	static const enum frame_kind kinds[] = { FRAME_JAVA_JIT, FRAME_JAVA_INLINED, FRAME_NATIVE,
						 FRAME_CPP, FRAME_KERNEL };

	char name[64];

	snprintf(name, sizeof(name), "function_number_%u", number);
	return fixture_code(p, kinds[number % ARRAY_SIZE(kinds)], name, PROFILE_NONE, 0);
}

/* Every stack keeps a random part of the one before and grows a new end: 500,000 boxes. */
static void make_big(struct maker *m)
{
	struct profile *p = &m->p;
	uint32_t frames[BIG_NAMES], stack[BIG_DEPTH], len = 0, threads[20];
	uint64_t random = 88172645463325252ULL;

	for (uint32_t i = 0; i < BIG_NAMES; i++)
		frames[i] = big_frame(p, i);
	for (uint32_t i = 0; i < ARRAY_SIZE(threads); i++)
		threads[i] = add_thread(p, "java", 1000 + i, 1000 + i, "main", "org.example.Big");
	for (uint32_t i = 0; i < BIG_STACKS; i++) {
		uint32_t wish = 5 + next_random(&random) % BIG_DEPTH;
		uint32_t keep = MIN(len, wish);
		uint32_t count = 1 + next_random(&random) % 3;

		for (len = keep; len < BIG_DEPTH && len < keep + 32; len++)
			stack[len] = frames[next_random(&random) % BIG_NAMES];
		add(m, m->cpu, threads[i * ARRAY_SIZE(threads) / BIG_STACKS], count,
		    (uint64_t)count * PERIOD, stack_of(p, stack, len));
	}
}

static const struct {
	const char *name;
	void (*make)(struct maker *m);
} kinds[] = {
	{ "small", make_small },       { "threads", make_threads }, { "hostile", make_hostile },
	{ "problems", make_problems }, { "many", make_many },	    { "empty", make_empty },
	{ "big", make_big },
};

static int write_view(const struct maker *m, const char *path)
{
	const struct view_format *format = view_format_find(NULL, path);
	struct view_options options = { .event = PROFILE_NONE,
					.threads = m->threads,
					.title = m->title };
	_cleanup_fclose_ FILE *out = fopen(path, "w");
	struct err err;

	if (!format || !out) {
		fprintf(stderr, "cannot write %s\n", path);
		return 1;
	}
	if (format->write(&m->p, &options, out, &err)) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct maker m = { .title = NULL };
	int r = 2;

	for (size_t i = 0; argc == 3 && i < ARRAY_SIZE(kinds); i++) {
		if (strcmp(argv[1], kinds[i].name) != 0)
			continue;
		profile_init(&m.p);
		make_header(&m);
		kinds[i].make(&m);
		r = write_view(&m, argv[2]);
		profile_release(&m.p);
	}
	if (r == 2)
		fprintf(stderr,
			"usage: make_page small|threads|many|hostile|problems|empty|big OUT\n");
	return r;
}
