/* SPDX-License-Identifier: Apache-2.0 */
/* How every view calls a process, a thread and a file. */
#ifndef HOSTPROF_PROFILE_TITLE_H
#define HOSTPROF_PROFILE_TITLE_H

#include "base/strbuf.h"
#include "profile/profile.h"

/* Append "java-4242"; "[unknown]" when PROCESS is PROFILE_NONE. */
void profile_format_process(struct strbuf *sb, const struct profile *p, uint32_t process);

/*
 * Append "[http-worker-1 tid=4243]", of a virtual thread that this one ran "[request-7 #4711 tid=4243]", of a
 * group of threads "[http-worker-*]"; "[unknown]" when THREAD is PROFILE_NONE.
 */
void profile_format_thread(struct strbuf *sb, const struct profile *p, uint32_t thread);

/*
 * What comes after FROM, made fit for a collapsed stack: no semicolons, no newlines, nothing that
 * could steer a terminal.
 */
void profile_make_plain(struct strbuf *sb, size_t from);

/* The process of a thread, PROFILE_NONE when THREAD is. */
uint32_t profile_process_of(const struct profile *p, uint32_t thread);

/*
 * The base name of a mapping's file, without the brackets of pseudo files ("[vdso]"): borrowed,
 * *RET_LEN long, 0 when MAPPING is PROFILE_NONE or has no name.
 */
const char *profile_mapping_name(const struct profile *p, uint32_t mapping, size_t *ret_len);

#endif
