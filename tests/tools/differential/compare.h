/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two lists of frames of one snapshot, ours and another unwinder's: are they equal, and if not, does
 * somebody other than hostprof say why? Our own rows, rules and reasons excuse nothing.
 */
#ifndef HOSTPROF_TESTS_COMPARE_H
#define HOSTPROF_TESTS_COMPARE_H

#include "snapshot.h"

enum verdict {
	VERDICT_EQUAL,
	VERDICT_CUT,	 /* equal, and the reference ends where the copy of the stack does */
	VERDICT_SECOND,	 /* excused: the second unwinder has exactly our frames */
	VERDICT_END,	 /* excused: we end where libdw says that there is no caller */
	VERDICT_TOP,	 /* excused: we end where stacks begin, by the function's symbol */
	VERDICT_NOWHERE, /* excused: we end where the reference takes what is no code for a caller */
	VERDICT_SWITCH,	 /* excused: a function that changes stacks, by its symbol */
	VERDICT_SIGNAL,	 /* excused: a signal's frame, by the function's symbol */
	VERDICT_ALONE,	 /* excused: the reference ends where libdw has no call frame information */
	VERDICT_NO_CFI,	 /* excused: libdw has no call frame information there; all else is equal */
	VERDICT_SHORT,	 /* we have more frames than the reference */
	VERDICT_DIFFERS,
	VERDICT_COUNT
};

extern const char *const verdict_names[VERDICT_COUNT];

static inline bool verdict_is_equal(enum verdict verdict)
{
	return verdict == VERDICT_EQUAL || verdict == VERDICT_CUT;
}

static inline bool verdict_is_bad(enum verdict verdict)
{
	return verdict == VERDICT_SHORT || verdict == VERDICT_DIFFERS;
}

/* Other tools' answers about the snapshot at hand; each is asked only when it matters. */
struct evidence {
	/* libdw: has ADDRESS call frame information? Is its return address undefined there? */
	bool (*describes)(void *data, uint64_t address);
	bool (*ends)(void *data, uint64_t address);
	/*
	 * Symbols: is ADDRESS in a function that goes on on another stack, that begins one, that
	 * handlers of signals return to?
	 */
	bool (*switches)(void *data, uint64_t address);
	bool (*begins)(void *data, uint64_t address);
	bool (*restores)(void *data, uint64_t address);
	/* The recording: is ADDRESS in an executable mapping? */
	bool (*is_code)(void *data, uint64_t address);
	/* The program's bytes: is the instruction before ADDRESS a call? */
	bool (*is_return)(void *data, uint64_t address);
	/* The second unwinder's frames; false: it has none. */
	bool (*second)(void *data, struct frames *ret_frames);
	void *data;
};

enum verdict compare_frames(const struct frames *ours, const struct frames *reference,
			    const struct evidence *evidence);

#endif
