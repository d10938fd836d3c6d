/* SPDX-License-Identifier: Apache-2.0 */
/* What is checked of a reader's answers, whichever question they are to. */
#ifndef HOSTPROF_ELF_READER_READER_SOUND_H
#define HOSTPROF_ELF_READER_READER_SOUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "elf/reader/reader_call.h"

/* -EBADMSG, for an answer that is not as it must be. */
int reader_not_sound(struct err *err);

/* A text of SIZE bytes: hex with an end? */
bool reader_is_hex(const char *text, size_t size);

/* Its texts have ends. */
bool reader_link_is_sound(const struct debug_link *link);

/* None goes over the end of what a file can be. */
bool reader_segments_are_sound(const struct elf_segment *segments, size_t count);

#endif
