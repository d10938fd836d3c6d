/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/filter.h"

/* Frames on the leaf side up to the last kernel frame. */
static uint32_t count_kernel(const struct profile *p, struct profile_stack stack)
{
	for (uint32_t n = stack.len; n > 0; n--)
		if (profile_get_frame(p, stack.frames[n - 1])->kind == FRAME_KERNEL)
			return n;
	return 0;
}

struct profile_stack profile_filter_stack(const struct profile *p,
					  const struct profile_filter *filter,
					  struct profile_stack stack)
{
	uint32_t kernel;

	if (filter->all_user == filter->all_kernel)
		return stack;
	kernel = count_kernel(p, stack);
	if (filter->all_kernel) {
		stack.len = kernel;
		return stack;
	}
	if (stack.len) {
		stack.frames += kernel;
		stack.len -= kernel;
	}
	return stack;
}

uint32_t profile_filter_event(const struct profile *p, uint32_t wanted)
{
	if (wanted == PROFILE_NONE)
		wanted = 0;
	return wanted < intern_len(&p->events) ? wanted : PROFILE_NONE;
}
