// SPDX-License-Identifier: Apache-2.0
/*
 * A recording of anybody's making; then everything that it left in the profile is looked at. What does not begin as a recording does says
 * what is changed in one of ours: how it is read (1 byte), then each time the place (2), how many bytes (1), and these.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

/* Before fixtures. */
#include "fuzz_asserts.h"

#include "made_recording.h"

#define MAX_CHANGE 16

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

static void read_one(const uint8_t *data, size_t size, unsigned int how)
{
	const struct recording_read_options options = { .merge = how & 1,
							.no_wakers = how & 2,
							.lock_owners = how & 4 };
	_cleanup_close_ int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct profile profile;
	struct err err = { 0 };
	bool truncated;

	if (fd < 0 || file_pwrite_all(fd, data, size, 0) < 0)
		return;
	profile_init(&profile);
	if (recording_read(fd, &options, &profile, &truncated, &err) == 0)
		check_profile(&profile);
	profile_release(&profile);
}

static void change(struct strbuf *sb, const uint8_t *data, size_t size)
{
	while (size > 3) {
		size_t at = (data[0] | (size_t)data[1] << 8) % sb->len;
		size_t len = MIN((size_t)data[2] % MAX_CHANGE, size - 3);

		data += 3;
		size -= 3;
		memcpy(sb->buf + at, data, MIN(len, sb->len - at));
		data += len;
		size -= len;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct strbuf sound, changed;

	if (size > 3 && memcmp(data, "FLR", 3) == 0) {
		read_one(data, size, (unsigned int)size);
		return 0;
	}
	if (!sound.len)
		made_recording(&sound);
	changed.len = 0;
	strbuf_add(&changed, sound.buf, sound.len);
	if (size)
		change(&changed, data + 1, size - 1);
	read_one((const uint8_t *)changed.buf, changed.len, size ? data[0] : 0);
	return 0;
}
