// SPDX-License-Identifier: Apache-2.0
#include "elf/reader/reader_sound.h"

#include <errno.h>
#include <string.h>

int reader_not_sound(struct err *err)
{
	return err_set(err, -EBADMSG, "its reader does not make sense");
}

bool reader_is_hex(const char *text, size_t size)
{
	size_t len = strnlen(text, size);

	return len < size && strspn(text, "0123456789abcdef") == len;
}

bool reader_link_is_sound(const struct debug_link *link)
{
	return reader_is_hex(link->build_id, sizeof(link->build_id)) &&
	       memchr(link->name, '\0', sizeof(link->name)) != NULL;
}

bool reader_segments_are_sound(const struct elf_segment *segments, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (segments[i].offset + segments[i].file_size < segments[i].offset)
			return false;
	return true;
}
