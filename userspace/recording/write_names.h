/* SPDX-License-Identifier: Apache-2.0 */
/* How a frame looks to JFR's tools, which know nothing but methods of classes. */
#ifndef HOSTPROF_RECORDING_WRITE_NAMES_H
#define HOSTPROF_RECORDING_WRITE_NAMES_H

#include "base/strbuf.h"
#include "profile/profile.h"

/* "java/lang/Thread"; "libc.so.6" for native code; "kernel". */
void jfr_class_name(struct strbuf *out, const struct profile *p, const struct profile_frame *f);

/* The name of an allocated class, a string of the profile. */
uint32_t jfr_object_class(const struct profile_frame *f);

/* The method or symbol; never empty. */
void jfr_method_name(struct strbuf *out, const struct profile *p, const struct profile_frame *f);

#endif
