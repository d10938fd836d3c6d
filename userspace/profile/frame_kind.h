/* SPDX-License-Identifier: Apache-2.0 */
/* One row per kind of frame: how every format calls it. */
#ifndef HOSTPROF_PROFILE_FRAME_KIND_H
#define HOSTPROF_PROFILE_FRAME_KIND_H

#include <stdbool.h>

#include "profile/profile.h"

struct frame_kind_info {
	const char *id;	      /* "java-inlined"; stable, for JSON and labels */
	const char *title;    /* "Java, inlined"; for legends */
	const char *jfr_type; /* jdk.types.FrameType text: what JFR tools key on */
	const char *suffix;   /* with --annotate: "_[i]"; "" when none */
	const char *color;    /* light theme, "#50e150" */
	const char *color_dark;
};

const struct frame_kind_info *frame_kind_info(enum frame_kind kind);

static inline bool frame_kind_is_java(uint32_t kind)
{
	return kind == FRAME_JAVA_INTERPRETED || kind == FRAME_JAVA_C1 || kind == FRAME_JAVA_JIT ||
	       kind == FRAME_JAVA_INLINED;
}

/* It has a Java method's class, name and descriptor: its code, or what is made of it. */
static inline bool frame_kind_has_method(uint32_t kind)
{
	return frame_kind_is_java(kind) || kind == FRAME_COMPILING;
}

/* A class in front of a stack, which says what was allocated and is no code. */
static inline bool frame_kind_is_class(uint32_t kind)
{
	return kind == FRAME_CLASS || kind == FRAME_CLASS_OUTSIDE;
}

/* User code of a file, inlined or not. */
static inline bool frame_kind_is_native(uint32_t kind)
{
	return kind == FRAME_NATIVE || kind == FRAME_CPP || kind == FRAME_INLINED;
}

/* The kind whose jfr_type and module fit; -ENODATA when unknown. Used by readers. */
int frame_kind_from_jfr(const char *jfr_type, enum frame_kind *ret_kind);

struct strbuf;

/*
 * How names are shortened or lengthened; bits. By default a class that the JVM makes as it runs goes without its number,
 * which another run, or another thread that was first, would not give it: "A$$Lambda/0x12" and "A$$Lambda$4/0x12" are
 * "A$$Lambda", "GeneratedMethodAccessor7" is "GeneratedMethodAccessor".
 */
enum frame_names {
	FRAME_NAMES_SIMPLE = 1, /* classes without their package */
	FRAME_NAMES_EXACT = 2,	/* with these numbers */
	FRAME_NAMES_FILE = 4,	/* native code with its file: "libc.so.6`read" */
	FRAME_NAMES_BCI = 8,	/* Java "pkg.Class.method@BCI" */
	FRAME_NAMES_SIGNATURES =
		16, /* Java "pkg.Class.method(Ljava/lang/String;)V", where it is known */
	FRAME_NAMES_NO_SEMICOLON =
		32, /* its ';' as '|': what async-profiler writes in collapsed stacks */
};

struct frame_name_options {
	bool lines;	/* Java "pkg.Class.method:LINE" */
	bool annotate;	/* append the suffix */
	uint32_t names; /* enum frame_names */
};

/* Before the name of a method that is compiled. */
#define FRAME_COMPILING_PREFIX "[compiling] "

/*
 * Append the name that people see : "pkg.Class.method", the symbol, or
 * "[libfoo.so+0x1234]" for native code without one, by where its function begins if that is known.
 */
void frame_format_name(struct strbuf *sb, const struct profile *p, const struct profile_frame *f,
		       const struct frame_name_options *options);

#endif
