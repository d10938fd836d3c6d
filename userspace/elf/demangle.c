// SPDX-License-Identifier: Apache-2.0
/*
 * Names are shown without parameters and return types (no DMGL_PARAMS), template arguments stay:
 * "JavaCalls::call_helper", "std::vector<int>::push_back". Rust's "::h0123456789abcdef" goes.
 *
 * A short mangled name can stand for a text of astronomic length (each substitution may double
 * it), and libiberty has no limit on that. So the text is taken through its callback, which leaves
 * by longjmp() past our limit. libiberty keeps its state on the stack then: nothing leaks.
 */
#include "elf/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <string.h>

#undef ARRAY_SIZE /* libiberty's; base/macros.h has the same */
#include "base/strbuf.h"

struct demangling {
	struct strbuf text;
	jmp_buf too_long;
};

static void collect(const char *text, size_t len, void *opaque)
{
	struct demangling *d = opaque;

	if (d->text.len + len > DEMANGLE_MAX_NAME)
		longjmp(d->too_long, 1);
	strbuf_add(&d->text, text, len);
}

enum language { LANGUAGE_RUST, LANGUAGE_CPP };

static char *demangle_as(const char *name, enum language language)
{
	struct demangling *d = xcalloc(1, sizeof(*d));
	char *result = NULL;
	int done = 0;

	if (setjmp(d->too_long) == 0)
		done = language == LANGUAGE_RUST ? rust_demangle_callback(name, 0, collect, d)
						 : cplus_demangle_v3_callback(name, 0, collect, d);
	else
		strbuf_reset(&d->text);
	if (done && d->text.len > 0)
		result = strbuf_take(&d->text);
	strbuf_release(&d->text);
	free(d);
	return result;
}

char *demangle(const char *name, bool *ret_cpp)
{
	char *text;

	*ret_cpp = false;
	/* "_Z…" and "_R…"; with one underscore more on some systems */
	if (name[0] != '_' || strnlen(name, DEMANGLE_MAX_MANGLED + 1) > DEMANGLE_MAX_MANGLED)
		return NULL;
	text = demangle_as(name, LANGUAGE_RUST);
	if (text)
		return text;
	text = demangle_as(name, LANGUAGE_CPP);
	*ret_cpp = text != NULL;
	return text;
}
