// SPDX-License-Identifier: Apache-2.0
#include "compare.h"

const char *const verdict_names[VERDICT_COUNT] = {
	[VERDICT_EQUAL] = "equal to the end",
	[VERDICT_CUT] = "equal up to the end of the stack copy",
	[VERDICT_NO_CFI] = "equal up to code without call frame information",
	[VERDICT_SWITCH] = "equal up to code that changes stacks",
	[VERDICT_END] = "equal up to a frame without caller (undefined return address)",
	[VERDICT_NOWHERE] =
		"equal up to a return address that is no code, to the reference a frame",
	[VERDICT_SHORT] = "equal up to where the reference ended early",
	[VERDICT_DIFFERS] = "DIFFERENT",
};

static size_t common_frames(const struct frames *a, const struct frames *b)
{
	size_t n = 0;

	while (n < a->count && n < b->count && a->pcs[n] == b->pcs[n])
		n++;
	return n;
}

enum verdict compare_frames(struct own_walk *own, struct dwfl_walk *dwfl,
			    const struct snapshot *snapshot, const struct frames *ours,
			    const struct frames *reference, int error)
{
	size_t same = common_frames(ours, reference);
	struct wire_rule rule;
	uint64_t address;

	if (same == ours->count && same == reference->count)
		return ours->cut ? VERDICT_CUT : VERDICT_EQUAL;
	if (same == 0)
		return VERDICT_DIFFERS;
	/* What the way from the last common frame to its caller rests on. */
	address = ours->pcs[same - 1] - !ours->exact[same - 1];
	rule = own_walk_rule(own, address);
	if (!dwfl_walk_describes(dwfl, address))
		return VERDICT_NO_CFI;
	if (rule.kind == WIRE_RULE_FP)
		return VERDICT_SWITCH;
	if (rule.kind == WIRE_RULE_END && same == ours->count)
		return VERDICT_END;
	if (same == ours->count && ours->cut)
		return VERDICT_CUT;
	if (same == reference->count && reference->cut)
		return VERDICT_CUT;
	/* libgcc while it rewrites frames for a landing pad; Go's rt_sigreturn, described as a call */
	if (same + 1 == reference->count &&
	    !process_find_mapping(snapshot->process, reference->pcs[same]))
		return VERDICT_NOWHERE;
	if (same == reference->count && (error || same < ours->count))
		return VERDICT_SHORT;
	return VERDICT_DIFFERS;
}
