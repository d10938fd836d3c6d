// SPDX-License-Identifier: Apache-2.0
/* --live: what the pipeline keeps of sampled objects, asks of agents, and makes of their answers. */
#include "pipeline_parts.h"

static const struct codemap_object both[] = { { .id = 1, .age = 2 }, { .id = 2, .age = 7 } };

/* A JVM whose objects 1 and 2 were sampled at 5 and 6 ms. */
static void two_objects(struct fixture *f, enum live_mode mode)
{
	f->pipeline_options.live = mode;
	parts.is_jvm = true;
	begin(f);
	put_process(f, 1, PID_A, "java", "[code]");
	put_sample(f, 5, (struct sample_spec){ .pid = PID_A, .object = 1, .weight = 300 });
	put_sample(f, 6, (struct sample_spec){ .pid = PID_A, .object = 2, .weight = 400 });
	put_sample(f, 7, (struct sample_spec){ .pid = PID_A });
	run_until(f, HELD_MS + 10);
	parts.live = (struct jvm_live_report){
		.pid = PID_A,
		.serial = registry_find(f->pipeline.registry, PID_A)->serial,
		.alive = both,
		.count = 2,
	};
	noted();
}

/* The recorded samples of "live". */
static const char *lives(struct fixture *f)
{
	static char text[1024];
	char *line, *save = NULL;
	_cleanup_free_ char *all = NULL;

	finish(f);
	all = xstrdup(samples_of(f, &f->read));
	text[0] = '\0';
	for (line = strtok_r(all, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		if (strstr(line, " live "))
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s\n", line);
	return text;
}

/* --- sinks that take samples one by one --- */

static struct strbuf told = STRBUF_INIT;
static uint64_t samples_told;

static void tell(const char *what, const struct profile *p, const struct sink_sample *s)
{
	struct profile_stack stack = profile_get_stack(p, s->stack);

	strbuf_addf(&told, "%s %d %s %d of %d, age %d, %s.%d/%s.%d", what, (int)s->id,
		    profile_get_string(p, profile_get_event(p, s->event)->name), (int)s->weight,
		    (int)s->objects, (int)s->age, s->process->name, (int)number(s->process->pid),
		    s->thread, (int)number(s->tid));
	for (uint32_t i = 0; i < stack.len; i++)
		add_frame(&told, p, stack.frames[i]);
	strbuf_addch(&told, '\n');
}

static void on_arrived(void *self, const struct profile *p, const struct sink_sample *sample)
{
	(void)self;
	tell("arrived", p, sample);
}

static void on_finished(void *self, const struct profile *p, const struct sink_sample *sample,
			enum sink_finish finish)
{
	(void)self;
	tell(finish == SINK_SAME ? "same" : "corrected", p, sample);
}

static void on_ending(void *self)
{
	(void)self;
	strbuf_addstr(&told, "ending\n");
}

static int on_end(void *self, struct profile *p, const struct sink_sums *sums, struct err *err)
{
	(void)self, (void)p, (void)err;
	samples_told = sums->samples;
	strbuf_addstr(&told, "end\n");
	return 0;
}

/* After the last sample; their numbers go on, and no lease is held meanwhile. */
static void sinks_are_told_of_what_lives(void **state)
{
	static const struct sink_ops ops = {
		.arrived = on_arrived, .finished = on_finished, .ending = on_ending, .end = on_end
	};
	static const struct codemap_object one[] = { { .id = 2, .age = 7 } };
	struct fixture *f = *state;

	sinks_add(&f->pipeline_options.sinks, (struct sink){ &ops, NULL });
	two_objects(f, LIVE_ON);
	assert_non_null(strstr(strbuf_str(&told), "arrived 3 cpu 100 of 0, age 0"));
	strbuf_reset(&told);
	put_sample(f, HELD_MS + 15, (struct sample_spec){ .pid = PID_A, .object_bytes = 48 });
	run_until(f, 2 * HELD_MS + 200);
	assert_string_equal(strbuf_str(&told),
			    "arrived 4 cpu 48 of 1, age 0, java.1/kernel's.1 frame\n"
			    "same 4 cpu 48 of 1, age 0, java.1/kernel's.1 frame\n");
	strbuf_reset(&told);
	parts.live.alive = one;
	parts.live.count = 1;
	assert_string_equal(lives(f), "6 live 400 unknown java.1/kernel's.1: frame\n");
	assert_string_equal(strbuf_str(&told),
			    "ending\n"
			    "arrived 5 live 400 of 0, age 7, java.1/kernel's.1 frame\n"
			    "same 5 live 400 of 0, age 7, java.1/kernel's.1 frame\n"
			    "end\n");
	assert_int_equal(samples_told, 5);
	strbuf_release(&told);
}

/* A report of a process that has the pid now is not of those samples. */
static void a_report_of_another_process(void **state)
{
	static const struct sink_ops ops = { .arrived = on_arrived, .finished = on_finished };
	struct fixture *f = *state;

	sinks_add(&f->pipeline_options.sinks, (struct sink){ &ops, NULL });
	two_objects(f, LIVE_ON);
	strbuf_reset(&told);
	put_side(f, HELD_MS + 20,
		 (struct side_event){ .kind = SIDE_FORK, .pid = PID_A, .ppid = PID_B });
	put_sample(f, HELD_MS + 25, (struct sample_spec){ .pid = PID_A, .exec_id = 1 });
	run_until(f, 2 * HELD_MS + 200);
	assert_non_null(strstr(strbuf_str(&told), "corrected 4 cpu"));
	strbuf_reset(&told);
	lives(f);
	assert_string_equal(strbuf_str(&told), "");
	strbuf_release(&told);
}

static bool was_noted(const char *what)
{
	return strstr(noted(), what) != NULL;
}

static void what_lives_is_recorded_at_the_end(void **state)
{
	struct fixture *f = *state;
	const char *asked;

	two_objects(f, LIVE_ON);
	parts.live_polls = 20;
	assert_string_equal(lives(f), "5 live 300 unknown java.1/kernel's.1: frame\n"
				      "6 live 400 unknown java.1/kernel's.1: frame\n");
	asked = noted();
	assert_non_null(strstr(asked, "which are alive, within 2000\n"));
	/* Before the lease is given back, and not before they have answered. */
	assert_true(strstr(asked, "which are alive") < strstr(asked, "release leases"));
	assert_int_equal(parts.live_polls, 0);
	assert_int_equal(counter_of(&f->read, "jvm.no-live"), 0);
}

static void only_when_it_is_wanted(void **state)
{
	struct fixture *f = *state;

	two_objects(f, LIVE_OFF);
	assert_string_equal(lives(f), "");
	assert_false(was_noted("alive"));
	assert_int_equal(f->pipeline.live.owners.len, 0);
}

static void after_a_full_collection(void **state)
{
	struct fixture *f = *state;

	two_objects(f, LIVE_COLLECT);
	lives(f);
	assert_true(was_noted("which are alive after a collection, within 10000\n"));
}

/* Of a chunk that is over the tables are gone. */
static void chunks_keep_them(void **state)
{
	struct fixture *f = *state;

	f->chunk_ns = 100 * MS;
	two_objects(f, LIVE_ON);
	for (unsigned int i = 1; i < 4; i++) {
		flush(f);
		run_until(f, HELD_MS + 10 + 1000 * i);
	}
	assert_true(f->pipeline.tables_serial > 0);
	assert_string_equal(lives(f), "5 live 300 unknown java.1/kernel's.1: frame\n"
				      "6 live 400 unknown java.1/kernel's.1: frame\n");
}

static void what_went_meanwhile_is_given_up(void **state)
{
	struct fixture *f = *state;

	two_objects(f, LIVE_ON);
	parts.gone = 1;
	run_until(f, HELD_MS + 60);
	/* As far as samples are applied. */
	assert_true(was_noted("gone until 110\n"));
	parts.gone = 0;
	assert_string_equal(lives(f), "6 live 400 unknown java.1/kernel's.1: frame\n");
}

static void levels_are_the_agents(void **state)
{
	struct fixture *f = *state;
	uint32_t level = 0;

	while (codemap_live_keeps(1, level + 1))
		level++;
	two_objects(f, LIVE_ON);
	parts.gone_level = level + 1;
	parts.live.level = level + 1;
	run_until(f, HELD_MS + 60);
	assert_null(strstr(lives(f), "5 live"));
}

static void who_does_not_answer_is_counted(void **state)
{
	struct fixture *f = *state;

	two_objects(f, LIVE_ON);
	parts.live.alive = NULL;
	assert_string_equal(lives(f), "");
	assert_int_equal(counter_of(&f->read, "jvm.no-live"), 1);
	assert_int_equal(f->pipeline.live_missing, 1);
	assert_int_equal(f->pipeline.live_missing_pid, PID_A);
}

static void who_has_ended_has_none(void **state)
{
	struct fixture *f = *state;

	two_objects(f, LIVE_ON);
	put_side(f, HELD_MS + 20, (struct side_event){ .kind = SIDE_EXIT, .pid = PID_A });
	run_until(f, HELD_MS + 4000);
	assert_int_equal(f->pipeline.live.owners.len, 0);
	assert_string_equal(lives(f), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_lives_is_recorded_at_the_end), TEST(only_when_it_is_wanted),
		TEST(after_a_full_collection),		 TEST(chunks_keep_them),
		TEST(what_went_meanwhile_is_given_up),	 TEST(levels_are_the_agents),
		TEST(who_does_not_answer_is_counted),	 TEST(who_has_ended_has_none),
		TEST(sinks_are_told_of_what_lives),	 TEST(a_report_of_another_process),
	};

	return cmocka_run_group_tests_name("pipeline_live", tests, NULL, NULL);
}
