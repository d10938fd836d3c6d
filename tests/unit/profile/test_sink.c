// SPDX-License-Identifier: Apache-2.0
/* A list of sinks: who is called, in which order, and what an error does. */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "base/strbuf.h"
#include "profile/sink.h"

struct noter {
	char name;
	int fails; /* with this */
	bool wants_rotation;
};

static struct strbuf noted;
static struct profile profile;

static int note(void *self, const char *what, struct err *err)
{
	struct noter *noter = self;

	strbuf_addf(&noted, "%c %s\n", noter->name, what);
	return noter->fails ? err_set(err, noter->fails, "%c", noter->name) : 0;
}

static int on_begin(void *self, const struct profile *p, bool whole_host, struct err *err)
{
	assert_ptr_equal(p, &profile);
	return note(self, whole_host ? "begin, whole host" : "begin", err);
}

static void on_arrived(void *self, const struct profile *p, const struct sink_sample *sample)
{
	assert_ptr_equal(p, &profile);
	assert_int_equal(sample->id, 7);
	note(self, "arrived", NULL);
}

static void on_finished(void *self, const struct profile *p, const struct sink_sample *sample,
			enum sink_finish finish)
{
	assert_ptr_equal(p, &profile);
	assert_int_equal(sample->id, 7);
	note(self, finish == SINK_SAME ? "same" : "corrected", NULL);
}

static void on_process(void *self, const struct sink_process_event *event)
{
	assert_int_equal(event->pid, 8);
	note(self, "process", NULL);
}

static void on_lost(void *self, const struct sink_loss *loss)
{
	assert_int_equal(loss->samples, 9);
	note(self, "lost", NULL);
}

static int on_turn(void *self, struct err *err)
{
	return note(self, "turn", err);
}

static int on_flush(void *self, struct profile *p, struct err *err)
{
	assert_ptr_equal(p, &profile);
	return note(self, "flush", err);
}

static bool wants_rotation(const void *self, const struct profile *p)
{
	assert_ptr_equal(p, &profile);
	return ((const struct noter *)self)->wants_rotation;
}

static int on_rotate(void *self, struct profile *p, struct err *err)
{
	assert_ptr_equal(p, &profile);
	return note(self, "rotate", err);
}

static int on_end(void *self, struct profile *p, const struct sink_sums *sums, struct err *err)
{
	assert_ptr_equal(p, &profile);
	assert_int_equal(sums->samples, 10);
	return note(self, "end", err);
}

static const struct sink_ops all_ops = {
	.begin = on_begin,
	.arrived = on_arrived,
	.finished = on_finished,
	.process = on_process,
	.lost = on_lost,
	.turn = on_turn,
	.flush = on_flush,
	.rotate = on_rotate,
	.wants_rotation = wants_rotation,
	.end = on_end,
};
static const struct sink_ops no_ops = { 0 };

static void call_all(const struct sinks *sinks)
{
	const struct sink_sample sample = { .id = 7 };
	struct err err = { 0 };

	strbuf_reset(&noted);
	assert_int_equal(sinks_begin(sinks, &profile, true, &err), 0);
	sinks_arrived(sinks, &profile, &sample);
	sinks_finished(sinks, &profile, &sample, SINK_SAME);
	sinks_finished(sinks, &profile, &sample, SINK_CORRECTED);
	sinks_process(sinks, &(struct sink_process_event){ .pid = 8 });
	sinks_lost(sinks, &(struct sink_loss){ .samples = 9 });
	assert_int_equal(sinks_turn(sinks, &err), 0);
	assert_int_equal(sinks_flush(sinks, &profile, &err), 0);
	assert_int_equal(sinks_rotate(sinks, &profile, &err), 0);
	assert_int_equal(sinks_end(sinks, &profile, &(struct sink_sums){ .samples = 10 }, &err), 0);
}

static void each_in_its_turn(void **state)
{
	struct noter a = { .name = 'a' }, b = { .name = 'b' };
	struct sinks sinks = { 0 };

	(void)state;
	call_all(&sinks);
	assert_string_equal(strbuf_str(&noted), "");
	sinks_add(&sinks, (struct sink){ &no_ops, NULL });
	call_all(&sinks);
	assert_string_equal(strbuf_str(&noted), "");
	sinks_add(&sinks, (struct sink){ &all_ops, &a });
	sinks_add(&sinks, (struct sink){ &all_ops, &b });
	call_all(&sinks);
	assert_string_equal(strbuf_str(&noted), "a begin, whole host\nb begin, whole host\n"
						"a arrived\nb arrived\na same\nb same\n"
						"a corrected\nb corrected\na process\nb process\n"
						"a lost\nb lost\na turn\nb turn\na flush\nb flush\n"
						"a rotate\nb rotate\na end\nb end\n");
	strbuf_release(&noted);
}

static void the_first_error_ends_a_round(void **state)
{
	struct noter a = { .name = 'a' }, b = { .name = 'b', .fails = -EIO },
		     c = { .name = 'c', .fails = -EPIPE };
	struct sinks sinks = { 0 };
	struct err err = { 0 };

	(void)state;
	sinks_add(&sinks, (struct sink){ &all_ops, &a });
	sinks_add(&sinks, (struct sink){ &all_ops, &b });
	sinks_add(&sinks, (struct sink){ &all_ops, &c });
	strbuf_reset(&noted);
	assert_int_equal(sinks_begin(&sinks, &profile, false, &err), -EIO);
	assert_int_equal(sinks_turn(&sinks, &err), -EIO);
	assert_int_equal(sinks_flush(&sinks, &profile, &err), -EIO);
	assert_int_equal(sinks_rotate(&sinks, &profile, &err), -EIO);
	assert_int_equal(sinks_end(&sinks, &profile, &(struct sink_sums){ .samples = 10 }, &err),
			 -EIO);
	assert_string_equal(err.text, "b");
	assert_string_equal(strbuf_str(&noted),
			    "a begin\nb begin\na turn\nb turn\na flush\nb flush\n"
			    "a rotate\nb rotate\na end\nb end\n");
	strbuf_release(&noted);
}

static void what_one_of_them_wants(void **state)
{
	struct noter a = { .name = 'a' };
	struct sinks sinks = { 0 };

	(void)state;
	assert_false(sinks.hurry);
	assert_false(sinks_want_rotation(&sinks, &profile));
	sinks_add(&sinks, (struct sink){ &no_ops, NULL });
	assert_false(sinks.hurry);
	assert_false(sinks_want_rotation(&sinks, &profile));
	sinks_add(&sinks, (struct sink){ &all_ops, &a });
	assert_true(sinks.hurry);
	assert_false(sinks_want_rotation(&sinks, &profile));
	a.wants_rotation = true;
	assert_true(sinks_want_rotation(&sinks, &profile));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_in_its_turn),
		cmocka_unit_test(the_first_error_ends_a_round),
		cmocka_unit_test(what_one_of_them_wants),
	};

	return cmocka_run_group_tests_name("sink", tests, NULL, NULL);
}
