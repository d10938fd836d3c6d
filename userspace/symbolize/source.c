// SPDX-License-Identifier: Apache-2.0
#include "symbolize/source.h"

void answer_add(struct answer *answer, const struct profile_frame *frame)
{
	if (answer->count < ANSWER_MAX_FRAMES)
		answer->frames[answer->count++] = *frame;
}

void answer_add_name(struct answer *answer, struct profile *profile, const char *name,
		     enum frame_kind kind, uint32_t mapping)
{
	const struct profile_frame frame = {
		.name = profile_string(profile, name), .mapping = mapping, .bci = -1, .kind = kind
	};

	answer_add(answer, &frame);
}
