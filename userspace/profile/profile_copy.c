/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/profile_copy.h"

static uint32_t copy_string(struct profile *to, const struct profile *from, uint32_t string)
{
	size_t len;
	const char *text = intern_get(&from->strings, string, &len);

	return profile_strn(to, text, len);
}

static uint32_t copy_mapping(struct profile *to, const struct profile *from, uint32_t mapping)
{
	struct profile_mapping copy;

	if (mapping == PROFILE_NONE)
		return PROFILE_NONE;
	copy = *profile_get_mapping(from, mapping);
	copy.path = copy_string(to, from, copy.path);
	copy.build_id = copy_string(to, from, copy.build_id);
	return profile_mapping(to, &copy);
}

static uint32_t copy_frame(struct profile *to, const struct profile *from, uint32_t frame)
{
	struct profile_frame copy = *profile_get_frame(from, frame);

	copy.name = copy_string(to, from, copy.name);
	copy.class_name = copy_string(to, from, copy.class_name);
	copy.file = copy_string(to, from, copy.file);
	copy.descriptor = copy_string(to, from, copy.descriptor);
	copy.mapping = copy_mapping(to, from, copy.mapping);
	return profile_frame(to, &copy);
}

uint32_t profile_copy_stack(struct profile *to, const struct profile *from, uint32_t stack)
{
	struct profile_stack frames = profile_get_stack(from, stack);
	_cleanup_free_ uint32_t *copy = xcalloc(frames.len + 1, sizeof(*copy));

	for (uint32_t i = 0; i < frames.len; i++)
		copy[i] = copy_frame(to, from, frames.frames[i]);
	return profile_stack(to, copy, frames.len);
}

static uint32_t copy_process(struct profile *to, const struct profile *from, uint32_t process)
{
	struct profile_process copy = *profile_get_process(from, process);

	copy.name = copy_string(to, from, copy.name);
	copy.exe = copy_string(to, from, copy.exe);
	copy.container_id = copy_string(to, from, copy.container_id);
	copy.cgroup = copy_string(to, from, copy.cgroup);
	copy.jvm_version = copy_string(to, from, copy.jvm_version);
	copy.main_class = copy_string(to, from, copy.main_class);
	copy.container_name = copy_string(to, from, copy.container_name);
	copy.container_image = copy_string(to, from, copy.container_image);
	return profile_process(to, &copy);
}

uint32_t profile_copy_thread(struct profile *to, const struct profile *from, uint32_t thread)
{
	struct profile_thread copy = *profile_get_thread(from, thread);

	copy.process = copy_process(to, from, copy.process);
	copy.name = copy_string(to, from, copy.name);
	return profile_thread(to, &copy);
}
