// SPDX-License-Identifier: Apache-2.0
/* Names of VM operations, also such as no JVM has. */
#include "test.h"

#include <string.h>

#include "base/alloc.h"
#include "session/safepoints/safepoint_reason.h"

/* A sample without frames whose text is NAME; owned by the caller. */
static struct wire_sample *sample_of(const char *name, enum wire_cause cause)
{
	size_t bytes = strlen(name), size = sizeof(struct wire_sample) + (bytes + 7) / 8 * 8;
	struct wire_sample *sample = xcalloc(1, size);

	sample->size = (uint32_t)size;
	sample->kind = WIRE_SAMPLE;
	sample->cause = (uint8_t)cause;
	sample->name_bytes = (uint16_t)bytes;
	sample->name_width = 1;
	memcpy(sample->words, name, bytes);
	return sample;
}

static void expect(const char *name, enum wire_cause cause, const char *wanted)
{
	struct wire_sample *sample = sample_of(name, cause);
	struct profile p;

	profile_init(&p);
	assert_string_equal(profile_get_string(&p, safepoint_reason(&p, sample)), wanted);
	profile_release(&p);
	free(sample);
}

static void names(void **state)
{
	(void)state;
	expect("Cleanup", WIRE_CAUSE_SAFEPOINT, "Cleanup");
	expect("G1CollectForAllocation", WIRE_CAUSE_SAFEPOINT, "GC: G1CollectForAllocation");
	expect("", WIRE_CAUSE_SAFEPOINT, "safepoint");
}

static void hostile_names(void **state)
{
	char longest[65];

	(void)state;
	expect("a;b c\n\x7f\xff", WIRE_CAUSE_SAFEPOINT, "a?b?c???");
	memset(longest, 'x', sizeof(longest));
	longest[64] = 0;
	expect(longest, WIRE_CAUSE_SAFEPOINT, "safepoint");
	longest[63] = 0;
	expect(longest, WIRE_CAUSE_SAFEPOINT, longest);
}

static void collectors(void **state)
{
	static const char *const theirs[] = {
		"GenCollectForAllocation",
		"SerialCollectForAllocation",
		"SerialGCCollect",
		"ParallelGCFailedAllocation",
		"ParallelCollectForAllocation",
		"ParallelGCSystemGC",
		"G1CollectFull",
		"G1PauseRemark",
		"G1TryInitiateConcMark",
		"CGC_Operation",
		"CMS_Final_Remark",
		"ZMarkStart",
		"ZMarkEndOld",
		"ZRelocateStartYoung",
		"XMarkStart",
		"ShenandoahFinalMarkStartEvac",
		"CollectForMetadataAllocation",
		"GC_HeapInspection",
	};
	static const char *const others[] = { "Cleanup",
					      "ICBufferFull",
					      "GetAllStackTraces",
					      "ThreadDump",
					      "Deoptimize",
					      "RedefineClasses",
					      "HandshakeAllThreads",
					      "FindDeadlocks",
					      "PrintThreads",
					      "Halt",
					      "" };

	(void)state;
	for (size_t i = 0; i < sizeof(theirs) / sizeof(theirs[0]); i++)
		assert_true(safepoint_is_gc(theirs[i]));
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		assert_false(safepoint_is_gc(others[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(hostile_names),
		cmocka_unit_test(collectors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
