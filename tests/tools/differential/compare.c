// SPDX-License-Identifier: Apache-2.0
#include "compare.h"

#include <string.h>

const char *const verdict_names[VERDICT_COUNT] = {
	[VERDICT_EQUAL] = "equal to the end",
	[VERDICT_CUT] = "equal up to the end of the stack copy, where the reference ends",
	[VERDICT_SECOND] = "excused: the second unwinder has our frames",
	[VERDICT_END] = "excused: libdw says that the last frame has no caller",
	[VERDICT_TOP] = "excused: by its symbol the last frame is the first of a stack",
	[VERDICT_NOWHERE] = "excused: the reference's next frame is in no mapping",
	[VERDICT_SWITCH] = "excused: by its symbol the last common frame changes stacks",
	[VERDICT_SIGNAL] = "excused: by its symbol the last common frame is a signal's",
	[VERDICT_ALONE] = "excused: the reference ends where libdw has no call frame information",
	[VERDICT_NO_CFI] =
		"excused: libdw has no call frame information of the frame whose callers differ",
	[VERDICT_SHORT] = "LONGER than the reference",
	[VERDICT_DIFFERS] = "DIFFERENT",
};

static size_t common_frames(const struct frames *a, const struct frames *b)
{
	size_t n = 0;

	while (n < a->count && n < b->count && a->pcs[n] == b->pcs[n])
		n++;
	return n;
}

static bool is_second_ours(const struct frames *ours, const struct evidence *e)
{
	static struct frames second;

	return ours->count && e->second(e->data, &second) && second.count == ours->count &&
	       common_frames(&second, ours) == ours->count;
}

/* We end and the reference goes on. */
static bool ends_there(const struct frames *ours, const struct frames *reference, size_t same,
		       uint64_t address, const struct evidence *e, enum verdict *ret_verdict)
{
	if (same != ours->count)
		return false;
	if (e->ends(e->data, address)) {
		*ret_verdict = VERDICT_END;
		return true;
	}
	if (e->begins(e->data, address)) {
		*ret_verdict = VERDICT_TOP;
		return true;
	}
	/* libgcc while it rewrites frames for a landing pad; Go's rt_sigreturn, described as a call */
	*ret_verdict = VERDICT_NOWHERE;
	return same + 1 == reference->count && !e->is_code(e->data, reference->pcs[same]);
}

/* Frames whose caller differs lose or win so many until both lists are the same again. */
#define MOST_DISPUTED 1

static bool is_tail_equal(const struct frames *a, size_t at, const struct frames *b, size_t b_at)
{
	return at < a->count && a->count - at == b->count - b_at &&
	       memcmp(&a->pcs[at], &b->pcs[b_at], (a->count - at) * sizeof(a->pcs[0])) == 0;
}

/* Are all frames the same but for some behind the first SAME? */
static bool meets_again(const struct frames *ours, const struct frames *reference, size_t same)
{
	for (size_t i = 0; i <= MOST_DISPUTED; i++)
		for (size_t j = 0; j <= MOST_DISPUTED; j++)
			if (same + j <= reference->count &&
			    is_tail_equal(ours, same + i, reference, same + j))
				return true;
	return false;
}

/* Can all that we have and the reference has not be callers? */
static bool are_callers(const struct frames *ours, size_t from, const struct evidence *e)
{
	for (size_t i = from; i < ours->count; i++)
		if (!e->is_return(e->data, ours->pcs[i]))
			return false;
	return true;
}

enum verdict compare_frames(const struct frames *ours, const struct frames *reference,
			    const struct evidence *e)
{
	size_t same = common_frames(ours, reference);
	enum verdict verdict;
	uint64_t address;

	if (same == ours->count && same == reference->count && same > 0)
		return reference->cut ? VERDICT_CUT : VERDICT_EQUAL;
	if (is_second_ours(ours, e))
		return VERDICT_SECOND;
	if (same == 0)
		return VERDICT_DIFFERS;
	/* What the way from the last common frame to its caller rests on. */
	address = reference->pcs[same - 1] - !reference->exact[same - 1];
	if (ends_there(ours, reference, same, address, e, &verdict))
		return verdict;
	if (e->switches(e->data, address) && are_callers(ours, same, e))
		return VERDICT_SWITCH;
	/* What was interrupted has not called. */
	if (e->restores(e->data, address) && are_callers(ours, same + 1, e))
		return VERDICT_SIGNAL;
	if (!e->describes(e->data, address) && are_callers(ours, same, e)) {
		if (same == reference->count && !reference->cut)
			return VERDICT_ALONE;
		if (meets_again(ours, reference, same))
			return VERDICT_NO_CFI;
	}
	return same == reference->count ? VERDICT_SHORT : VERDICT_DIFFERS;
}
