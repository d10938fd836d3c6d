// SPDX-License-Identifier: Apache-2.0
#include "jvm/jvm_lacks.h"

#include <stdarg.h>
#include <stdio.h>

#include "jvm/layout/jvm_layout.h"
#include "jvm/layout/jvm_layout_read.h"
#include "jvm/names/scopes_layout.h"

static void PRINTF_LIKE(2, 3) add(struct jvm_lacks *lacks, const char *fmt, ...)
{
	va_list ap;

	if (lacks->count == JVM_LACKS_MAX)
		return;
	va_start(ap, fmt);
	vsnprintf(lacks->text[lacks->count++], sizeof(lacks->text[0]), fmt, ap);
	va_end(ap);
}

void jvm_lacks_all(const struct err *why, struct jvm_lacks *ret_lacks)
{
	*ret_lacks = (struct jvm_lacks){ .count = 0 };
	add(ret_lacks, "Java frames, of which only the native ones are shown: %.160s", why->text);
}

void jvm_lacks_read(const struct vmstructs *vs, struct jvm_lacks *ret_lacks)
{
	struct jvm_layout layout;
	struct scopes_layout scopes;
	struct err err = { 0 };

	if (jvm_layout_read(vs, &layout, &err) < 0) {
		jvm_lacks_all(&err, ret_lacks);
		return;
	}
	*ret_lacks = (struct jvm_lacks){ .count = 0 };
	scopes_layout_read(vs, &scopes);
	if (scopes.place == SCOPES_UNKNOWN)
		add(ret_lacks,
		    "inlined methods, and lines of compiled code: JDK %u does not say from outside where they are; the agent does",
		    layout.feature_release);
	if (layout.const_method_flags == JVM_LAYOUT_ABSENT)
		add(ret_lacks, "lines: this JVM's VMStructs have no ConstMethod._flags");
	if (layout.pool_source_index == JVM_LAYOUT_ABSENT &&
	    layout.klass_source_index == JVM_LAYOUT_ABSENT)
		add(ret_lacks,
		    "source files: this JVM's VMStructs have no _source_file_name_index");
}
