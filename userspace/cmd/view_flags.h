/* SPDX-License-Identifier: Apache-2.0 */
/* The options about views, which record and report share, and writing a view to where it belongs. */
#ifndef HOSTPROF_CMD_VIEW_FLAGS_H
#define HOSTPROF_CMD_VIEW_FLAGS_H

#include "base/err.h"
#include "base/options.h"
#include "base/out/outfile.h"
#include "output/view.h"

struct view_flags {
	const char *output, *format, *title;
	uint64_t top;
	double min_percent;
	bool threads, annotate, total, lines, bci, simple, no_normalize, libraries;
	bool signatures, lock_owners;
	bool all_user, all_kernel, reverse, thread_groups;
};

/* Rows of an option table; FLAGS is a `struct view_flags` of static storage. */
/* clang-format off */
#define VIEW_FLAGS_ROWS(flags) \
	{ OPTION_TYPE_STRING, 'o', "output", "FILE", \
	  "write to FILE; its extension says the format; - is standard output", \
	  &(flags).output, NULL }, \
	{ OPTION_TYPE_STRING, 'f', "format", "FORMAT", \
	  "the format, whatever the file is called (hostprof help formats)", \
	  &(flags).format, NULL }, \
	{ OPTION_TYPE_FLAG, 't', "threads", NULL, "split by thread", &(flags).threads, NULL }, \
	{ OPTION_TYPE_FLAG, 0, "thread-groups", NULL, \
	  "threads whose names differ by numbers alone are one: pool-*-thread-*", \
	  &(flags).thread_groups, NULL }, \
	{ OPTION_TYPE_FLAG, 0, "annotate", NULL, \
	  "mark frames: _[k] kernel, _[j] compiled Java, _[i] inlined, _[0] interpreted, _[1] C1", \
	  &(flags).annotate, NULL }, \
	{ OPTION_TYPE_FLAG, 0, "total", NULL, \
	  "count the event's unit (nanoseconds, bytes) and not samples", &(flags).total, NULL }, \
	{ OPTION_TYPE_FLAG, 0, "lines", NULL, "Java frames with line numbers", &(flags).lines, NULL }, \
	{ OPTION_TYPE_STRING, 0, "title", "TEXT", "title of the page", &(flags).title, NULL }, \
	{ OPTION_TYPE_U64, 0, "top", "N", "rows of each text table (default 20)", &(flags).top, NULL }, \
	{ OPTION_TYPE_FLAG, 0, "bci", NULL, "Java frames with bytecode indices (method@BCI)", \
	  &(flags).bci, NULL }, \
	{ OPTION_TYPE_FLAG, 0, "signatures", NULL, \
	  "Java methods with their signatures (method(ILjava/lang/String;)V)", \
	  &(flags).signatures, NULL }, \
	{ OPTION_TYPE_FLAG, 0, "simple", NULL, "classes without their packages", &(flags).simple, NULL }, \
	{ OPTION_TYPE_FLAG, 0, "no-normalize", NULL, \
	  "lambdas, hidden classes and accessors with their numbers (A$$Lambda/0x12)", \
	  &(flags).no_normalize, NULL }, \
	{ OPTION_TYPE_FLAG, 0, "lock-owners", NULL, \
	  "of -e lock: who had the lock, behind its class: [held by THREAD]", \
	  &(flags).lock_owners, NULL }, \
	{ OPTION_TYPE_FLAG, 0, "libraries", NULL, "native code with its file (libc.so.6`read)", \
	  &(flags).libraries, NULL }, \
	{ OPTION_TYPE_CALLBACK, 0, "min-width", "PERCENT", \
	  "a page or picture leaves out boxes of less than this part", &(flags).min_percent, \
	  view_flags_parse_percent }, \
	{ OPTION_TYPE_FLAG, 0, "reverse", NULL, "a page begins with the leaves and their callers", \
	  &(flags).reverse, NULL }
/* clang-format on */

/* Callbacks of these rows; -EINVAL with a sentence. */
int view_flags_parse_percent(const char *arg, void *value, struct err *err);

/* What a view needs to know; event is PROFILE_NONE. */
struct view_options view_flags_options(const struct view_flags *flags);

/*
 * The format that the flags ask for: -f, else the extension of the output, else DEFAULT_NAME.
 * -EINVAL with the list of formats when there is none such.
 */
int view_flags_find_format(const struct view_flags *flags, const char *default_name,
			   const struct view_format **ret_format, struct err *err);

/* What they say about which samples are one, done to PROFILE. */
void view_flags_apply(const struct view_flags *flags, struct profile *profile);

/* Write one view into OUT, which is not committed. */
int view_flags_write_to(const struct profile *profile, const struct view_format *format,
			const struct view_options *options, const struct outfile *out,
			struct err *err);

/* Write one view to PATH ("-": standard output), whole or not at all. */
int view_flags_write(const struct profile *profile, const struct view_format *format,
		     const struct view_options *options, const char *path, struct err *err);

#endif
