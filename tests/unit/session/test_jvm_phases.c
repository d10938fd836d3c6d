// SPDX-License-Identifier: Apache-2.0
/* JVMs that are probed for what events want, and asked for more until they tell; probes, JVMs and BPF are the test's. */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "base/clock.h"
#include "fake_clock.h"
#include "session/probes/jvm_phases.h"
#include "session/probes/jvm_probes.h"

#define PID 4711

static struct {
	struct jvm_phases phases;
	struct process process;
	char log[256];
	int probed, told; /* what they answer */
	bool is_set;
	struct wire_phases set;
} f;

static void note(const char *text)
{
	strncat(f.log, text, sizeof(f.log) - strlen(f.log) - 1);
}

int jvm_probes_open(struct capture *capture, const struct process *process,
		    enum wire_trigger trigger, const struct jvm_probe *probes, uint32_t count,
		    struct err *err)
{
	assert_ptr_equal(capture, &f);
	assert_ptr_equal(process, &f.process);
	for (uint32_t i = 0; i < count; i++) {
		assert_non_null(probes[i].name);
		note(probes[i].name);
		note(probes[i].form ? "* " : " ");
	}
	note(trigger == WIRE_TRIGGER_JIT	  ? "of compilations\n"
	     : trigger == WIRE_TRIGGER_CLASS_LOAD ? "of classes\n"
	     : trigger == WIRE_TRIGGER_GC	  ? "of collections\n"
						  : "of safepoints\n");
	return f.probed < 0 ? err_set(err, f.probed, "no probes") : 0;
}

struct jvm *jvm_table_get(struct jvm_table *table, struct process *process)
{
	(void)table, (void)process;
	return (struct jvm *)&f;
}

int jvm_get_phases(struct jvm *jvm, bool wants_cause, struct wire_phases *ret_phases)
{
	(void)jvm;
	note(wants_cause ? "asked for causes\n" : "asked\n");
	if (f.told == 0)
		ret_phases->compile_task.level = 40;
	ret_phases->gc_cause_at = 0x7000;
	return f.told;
}

int capture_set_phases(struct capture *capture, uint32_t tgid, const struct wire_phases *phases)
{
	assert_ptr_equal(capture, &f);
	assert_int_equal(tgid, PID);
	f.is_set = phases != NULL;
	if (phases)
		f.set = *phases;
	return 0;
}

static void unseen(enum jvm_phase phase, const struct err *err, void *data)
{
	assert_ptr_equal(data, &f);
	note(jvm_phase_counter(phase));
	note(": ");
	note(err->text);
	note("\n");
}

static void begin(uint32_t wanted)
{
	fake_begin();
	memset(&f, 0, sizeof(f));
	f.process.pid = PID;
	jvm_phases_init(&f.phases, (struct capture *)&f, NULL, wanted);
}

static void expect(const char *wanted)
{
	assert_string_equal(f.log, wanted);
	f.log[0] = '\0';
}

static uint32_t wanted_by(enum wire_trigger first, enum wire_trigger second)
{
	const struct capture_event events[] = { { .trigger = first }, { .trigger = second } };
	const struct capture_options options = { .events = events, .event_count = 2 };

	return jvm_phases_wanted(&options);
}

static void what_events_want(void **state)
{
	const struct capture_event cpu = { .trigger = WIRE_TRIGGER_PERF },
				   jit = { .trigger = WIRE_TRIGGER_JIT };

	(void)state;
	assert_int_equal(wanted_by(WIRE_TRIGGER_PERF, WIRE_TRIGGER_LOCK_PARK), 0);
	assert_int_equal(wanted_by(WIRE_TRIGGER_PERF, WIRE_TRIGGER_JIT), 1 << JVM_PHASE_JIT);
	assert_int_equal(wanted_by(WIRE_TRIGGER_SAFEPOINT, WIRE_TRIGGER_JIT),
			 1 << JVM_PHASE_JIT | 1 << JVM_PHASE_SAFEPOINT);
	assert_int_equal(jvm_phase_of(&cpu), JVM_PHASE_COUNT);
	assert_int_equal(jvm_phase_of(&jit), JVM_PHASE_JIT);
	assert_string_equal(jvm_phase_title(JVM_PHASE_JIT), "compilations");
}

static void nothing_wanted(void **state)
{
	(void)state;
	begin(0);
	jvm_phases_add(&f.phases, &f.process, unseen, &f);
	expect("");
	assert_int_equal(f.phases.seen, 0);
	jvm_phases_release(&f.phases);
}

/* It is asked for no more than its probes tell. */
static void safepoints(void **state)
{
	(void)state;
	begin(1 << JVM_PHASE_SAFEPOINT);
	jvm_phases_add(&f.phases, &f.process, unseen, &f);
	expect("safepoint__begin vmops__begin vmops__end safepoint__end of safepoints\n");
	assert_int_equal(f.phases.seen, 1 << JVM_PHASE_SAFEPOINT);
	f.probed = -ENODATA;
	jvm_phases_add(&f.phases, &f.process, unseen, &f);
	assert_non_null(strstr(f.log, "safepoint.not-seen: no probes\n"));
	jvm_phases_release(&f.phases);
}

static void compilations(void **state)
{
	(void)state;
	begin(1 << JVM_PHASE_JIT);
	f.told = -EAGAIN;
	jvm_phases_add(&f.phases, &f.process, unseen, &f);
	expect("method__compile__begin method__compile__end* of compilations\nasked\n");
	assert_int_equal(f.phases.seen, 1 << JVM_PHASE_JIT);
	jvm_phases_add(&f.phases, &f.process, unseen, &f);
	expect("");
	f.told = 0;
	fake_advance(NSEC_PER_SEC);
	jvm_phases_poll(&f.phases, clock_now_ns());
	expect("asked\n");
	assert_true(f.is_set);
	assert_int_equal(f.set.compile_task.level, 40);
	jvm_phases_forget(&f.phases, &f.process);
	assert_false(f.is_set);
	jvm_phases_release(&f.phases);
}

static void classes(void **state)
{
	(void)state;
	begin(1 << JVM_PHASE_CLASSLOAD);
	jvm_phases_add(&f.phases, &f.process, unseen, &f);
	expect("class__loaded* of classes\n");
	assert_int_equal(wanted_by(WIRE_TRIGGER_PERF, WIRE_TRIGGER_CLASS_LOAD),
			 1 << JVM_PHASE_CLASSLOAD);
	jvm_phases_release(&f.phases);
}

/* What is known already is good. */
static void collections(void **state)
{
	(void)state;
	begin(1 << JVM_PHASE_GC);
	f.told = -EAGAIN;
	jvm_phases_add(&f.phases, &f.process, unseen, &f);
	expect("vmops__begin gc__begin mem__pool__gc__begin vmops__end of collections\nasked for causes\n");
	assert_true(f.is_set);
	assert_int_equal(f.set.gc_cause_at, 0x7000);
	assert_int_equal(f.set.compile_task.level, 0);
	/* One whose memory could not be read in time is asked once more. */
	f.told = -ETIMEDOUT;
	f.is_set = false;
	fake_advance(NSEC_PER_SEC);
	jvm_phases_poll(&f.phases, clock_now_ns());
	assert_true(f.is_set);
	f.told = 0;
	fake_advance(NSEC_PER_SEC);
	jvm_phases_poll(&f.phases, clock_now_ns());
	assert_int_equal(f.set.compile_task.level, 40);
	jvm_phases_release(&f.phases);
}

/* Nothing is known, nor will be. */
static void one_that_cannot_be_read(void **state)
{
	(void)state;
	begin(1 << JVM_PHASE_GC);
	f.told = -EOPNOTSUPP;
	jvm_phases_add(&f.phases, &f.process, unseen, &f);
	assert_false(f.is_set);
	jvm_phases_release(&f.phases);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_events_want),
		cmocka_unit_test(nothing_wanted),
		cmocka_unit_test(safepoints),
		cmocka_unit_test(compilations),
		cmocka_unit_test(classes),
		cmocka_unit_test(collections),
		cmocka_unit_test(one_that_cannot_be_read),
	};

	return cmocka_run_group_tests_name("jvm_phases", tests, NULL, NULL);
}
