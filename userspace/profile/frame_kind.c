/* SPDX-License-Identifier: Apache-2.0 */
#include "profile/frame_kind.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/text/text_cursor.h"
#include "profile/title.h"

/*
 * The light colours, the suffixes and the JFR types are async-profiler's (src/res/flame.html,
 * src/flightRecorder.cpp), because that is what people and tools know. JFR has no type of its own
 * for the last eight kinds; they take the nearest one, and our files say the kind beside it.
 */
static const struct frame_kind_info kinds[FRAME_KIND_COUNT] = {
	[FRAME_NATIVE] = { "native", "Native", "Native", "", "#e15a5a", "#a84444" },
	[FRAME_CPP] = { "cpp", "C++, JVM", "C++", "", "#c8c83c", "#85852a" },
	[FRAME_KERNEL] = { "kernel", "Kernel", "Kernel", "_[k]", "#e17d00", "#a35b00" },
	[FRAME_JAVA_INTERPRETED] = { "java-interpreted", "Java, interpreted", "Interpreted", "_[0]",
				     "#b2e1b2", "#5f8a5f" },
	[FRAME_JAVA_C1] = { "java-c1", "Java, C1 compiled", "C1 compiled", "_[1]", "#cce880",
			    "#6f8a38" },
	[FRAME_JAVA_JIT] = { "java-jit", "Java, compiled", "JIT compiled", "_[j]", "#50e150",
			     "#2c8a2c" },
	[FRAME_JAVA_INLINED] = { "java-inlined", "Java, inlined", "Inlined", "_[i]", "#50cccc",
				 "#2a8080" },
	[FRAME_STUB] = { "stub", "JVM stub", "Native", "", "#b8a0d8", "#6e5a94" },
	[FRAME_JIT_OTHER] = { "jit-other", "Other JIT", "JIT compiled", "_[j]", "#7fb2e5",
			      "#42709c" },
	[FRAME_CLASS] = { "class", "Class", "Inlined", "_[i]", "#50cccc", "#2a8080" },
	[FRAME_CLASS_OUTSIDE] = { "class-outside", "Allocated class, outside TLAB", "Kernel",
				  "_[k]", "#e17d00", "#a35b00" },
	[FRAME_INLINED] = { "inlined", "Native, inlined", "Inlined", "_[i]", "#e88fa8", "#8f4d61" },
	[FRAME_MARK] = { "mark", "Not code", "Native", "", "#b4b4b4", "#666666" },
	[FRAME_RECEIVER] = { "receiver", "Class that is called", "Inlined", "_[i]", "#98dcb8",
			     "#3d7d5d" },
	[FRAME_COMPILING] = { "compiling", "Java, being compiled", "JIT compiled", "_[j]",
			      "#d8d0a0", "#7d7440" },
};

const struct frame_kind_info *frame_kind_info(enum frame_kind kind)
{
	return &kinds[kind];
}

int frame_kind_from_jfr(const char *jfr_type, enum frame_kind *ret_kind)
{
	for (int kind = 0; kind < FRAME_KIND_COUNT; kind++) {
		if (!strcmp(kinds[kind].jfr_type, jfr_type)) {
			*ret_kind = (enum frame_kind)kind;
			return 0;
		}
	}
	return -ENODATA;
}

/* "[libfoo.so+0x1234]": where the function begins, else the address itself. */
static void add_address(struct strbuf *sb, const struct profile *p, const struct profile_frame *f)
{
	size_t len;
	const char *file = profile_mapping_name(p, f->mapping, &len);

	if (!len)
		strbuf_addstr(sb, "[unknown");
	else
		strbuf_addf(sb, "[%.*s", (int)len, file);
	if (f->address)
		strbuf_addf(sb, "+0x%" PRIx64, f->address - f->into);
	strbuf_addch(sb, ']');
}

/* Of "pkg.GeneratedMethodAccessor7": JDK's MethodAccessorGenerator.java, generateName(). */
static size_t without_accessor_number(const char *name, size_t len)
{
	static const char accessor[] = "Accessor";
	const size_t bytes = sizeof(accessor) - 1;
	size_t end = len;

	while (end && text_is_digit(name[end - 1]))
		end--;
	if (end == len || end < bytes || memcmp(name + end - bytes, accessor, bytes) != 0 ||
	    !memmem(name, end, ".Generated", strlen(".Generated")))
		return len;
	return end;
}

/*
 * How much of the first LEN bytes, a class without the brackets of an array, is its name without numbers. NUMBER: where
 * that of a hidden class begins, with its '/', or LEN.
 */
static size_t normal_len(const char *name, size_t len, size_t number)
{
	static const char lambda[] = "$$Lambda$";
	const char *found;
	size_t at;

	if (number + 1 < len && text_is_digit(name[number + 1]))
		len = number;
	/* Before JDK 22 they were counted, too: InnerClassLambdaMetafactory.java. */
	found = memmem(name, len, lambda, sizeof(lambda) - 1);
	at = found ? (size_t)(found - name) + sizeof(lambda) - 1 : len;
	while (at < len && text_is_digit(name[at]))
		at++;
	if (found && at == len)
		return (size_t)(found - name) + sizeof(lambda) - 2;
	return without_accessor_number(name, len);
}

/*
 * A hidden class has its number, or its address, behind a '/' or '+' that no other name has
 * (JDK's classFileParser.cpp, mangle_hidden_class_name()); a package ends with a dot.
 */
static void add_class(struct strbuf *sb, const char *name, uint32_t names)
{
	size_t len = strlen(name), number = strcspn(name, "/+"), begin = 0, brackets;

	while (len >= 2 && !memcmp(name + len - 2, "[]", 2))
		len -= 2;
	brackets = len;
	number = MIN(number, len);
	if (!(names & FRAME_NAMES_EXACT))
		len = normal_len(name, len, number);
	if (names & FRAME_NAMES_SIMPLE)
		for (size_t i = 0; i < MIN(len, number); i++)
			if (name[i] == '.')
				begin = i + 1;
	strbuf_add(sb, name + begin, len - begin);
	strbuf_addstr(sb, name + brackets);
}

static void add_file(struct strbuf *sb, const struct profile *p, const struct profile_frame *f)
{
	size_t len;
	const char *file = profile_mapping_name(p, f->mapping, &len);

	if (len && frame_kind_is_native(f->kind))
		strbuf_addf(sb, "%.*s`", (int)len, file);
}

static void add_descriptor(struct strbuf *sb, const char *descriptor, uint32_t names)
{
	size_t from = sb->len;

	strbuf_addstr(sb, descriptor);
	for (size_t i = from; i < sb->len && names & FRAME_NAMES_NO_SEMICOLON; i++)
		if (sb->buf[i] == ';')
			sb->buf[i] = '|';
}

void frame_format_name(struct strbuf *sb, const struct profile *p, const struct profile_frame *f,
		       const struct frame_name_options *options)
{
	const char *class_name = profile_get_string(p, f->class_name);
	const char *name = profile_get_string(p, f->name);

	if (options->names & FRAME_NAMES_FILE && *name)
		add_file(sb, p, f);
	/* No part of what the method itself takes. */
	if (f->kind == FRAME_COMPILING)
		strbuf_addstr(sb, FRAME_COMPILING_PREFIX);
	add_class(sb, class_name, options->names);
	if (*class_name && *name)
		strbuf_addch(sb, '.');
	strbuf_addstr(sb, name);
	if (!*class_name && !*name)
		add_address(sb, p, f);
	if (options->names & FRAME_NAMES_SIGNATURES && frame_kind_has_method(f->kind))
		add_descriptor(sb, profile_get_string(p, f->descriptor), options->names);
	if (options->names & FRAME_NAMES_BCI && frame_kind_has_method(f->kind) && f->bci >= 0)
		strbuf_addf(sb, "@%" PRId32, f->bci);
	if (options->lines && frame_kind_is_java(f->kind) && f->line > 0)
		strbuf_addf(sb, ":%" PRId32, f->line);
	if (options->annotate)
		strbuf_addstr(sb, frame_kind_info(f->kind)->suffix);
}
