/* SPDX-License-Identifier: Apache-2.0 */
#include "recording/write_names.h"

#include "profile/class_name.h"
#include "profile/frame_kind.h"
#include "profile/title.h"

static void add_library(struct strbuf *out, const struct profile *p, const struct profile_frame *f,
			const char *fallback)
{
	size_t len;
	const char *file = profile_mapping_name(p, f->mapping, &len);

	if (len)
		strbuf_add(out, file, len);
	else
		strbuf_addstr(out, fallback);
}

uint32_t jfr_object_class(const struct profile_frame *f)
{
	return f->class_name ? f->class_name : f->name;
}

void jfr_class_name(struct strbuf *out, const struct profile *p, const struct profile_frame *f)
{
	switch ((enum frame_kind)f->kind) {
	case FRAME_JAVA_INTERPRETED:
	case FRAME_JAVA_C1:
	case FRAME_JAVA_JIT:
	case FRAME_JAVA_INLINED:
	case FRAME_COMPILING:
		if (f->class_name)
			class_name_to_internal(out, profile_get_string(p, f->class_name));
		else
			strbuf_addstr(out, "jvm"); /* "[JIT]": what could not be named */
		break;
	case FRAME_CLASS:
	case FRAME_CLASS_OUTSIDE:
	case FRAME_RECEIVER:
		class_name_to_internal(out, profile_get_string(p, jfr_object_class(f)));
		break;
	case FRAME_KERNEL: strbuf_addstr(out, "kernel"); break;
	case FRAME_MARK: strbuf_addstr(out, "hostprof"); break;
	case FRAME_STUB: add_library(out, p, f, "jvm"); break;
	case FRAME_JIT_OTHER: add_library(out, p, f, "jit"); break;
	case FRAME_NATIVE:
	case FRAME_CPP:
	case FRAME_INLINED:
	case FRAME_KIND_COUNT: add_library(out, p, f, "unknown"); break;
	}
}

void jfr_method_name(struct strbuf *out, const struct profile *p, const struct profile_frame *f)
{
	static const struct frame_name_options plain = { .names = FRAME_NAMES_EXACT };

	if (frame_kind_is_class(f->kind) || f->kind == FRAME_RECEIVER)
		strbuf_addstr(out, "<class>");
	else if (f->name)
		strbuf_addstr(out, profile_get_string(p, f->name));
	else
		frame_format_name(out, p, f, &plain);
}
