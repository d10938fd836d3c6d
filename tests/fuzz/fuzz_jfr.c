// SPDX-License-Identifier: Apache-2.0
/* A recording of anybody's making; then everything that it left in the profile is looked at. */
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#include "base/file.h"
#include "recording/recording.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Every id in the profile must be one of its own. */
static void check_profile(const struct profile *p)
{
	for (size_t i = 0; i < p->samples.len; i++) {
		const struct profile_sample *s = &p->samples.items[i];
		const struct profile_thread *t = profile_get_thread(p, s->thread);
		struct profile_stack stack = profile_get_stack(p, s->stack);

		if (s->event >= intern_len(&p->events) || t->process >= intern_len(&p->processes))
			__builtin_trap();
		for (uint32_t k = 0; k < stack.len; k++)
			if (profile_get_frame(p, stack.frames[k])->kind > FRAME_MARK)
				__builtin_trap();
	}
	for (size_t i = 0; i < p->quality.len; i++)
		if (p->quality.items[i].process >= intern_len(&p->processes))
			__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct recording_read_options options = { .merge = size & 1 };
	_cleanup_close_ int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct profile profile;
	struct err err = { 0 };
	bool truncated;

	if (fd < 0 || file_pwrite_all(fd, data, size, 0) < 0)
		return 0;
	profile_init(&profile);
	if (recording_read(fd, &options, &profile, &truncated, &err) == 0)
		check_profile(&profile);
	profile_release(&profile);
	return 0;
}
