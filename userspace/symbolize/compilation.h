/* SPDX-License-Identifier: Apache-2.0 */
/* What a sample says of the method that was compiled (-e jit), or the class that was loaded (-e classload), or a collector's pause (-e gc); all of it is the JVM's word. */
#ifndef HOSTPROF_SYMBOLIZE_COMPILATION_H
#define HOSTPROF_SYMBOLIZE_COMPILATION_H

#include <stdbool.h>

#include "base/strbuf.h"
#include "wire.h"

/* A name in the sample; cut: the JVM's is longer. */
struct compilation_name {
	const char *at; /* borrowed from the sample; without an end */
	size_t len;
	bool cut;
};

struct compilation {
	struct wire_compilation head;
	struct compilation_name class_name, method, signature;
};

/* False: SAMPLE is none of these, or not whole. */
bool compilation_read(const struct wire_sample *sample, struct compilation *ret);

/* Append the compiler, "C1"; odd bytes are replaced. "JIT" where it says none. */
void compilation_add_compiler(struct strbuf *out, const struct compilation *compilation);

/* The name of the class that was loaded. False: SAMPLE is none of these, or not whole. */
bool class_load_read(const struct wire_sample *sample, struct compilation_name *ret_name);

/* A collector's pause, with an end to each name and odd bytes replaced. False: SAMPLE is none of these. */
bool gc_pause_read(const struct wire_sample *sample, struct wire_gc_pause *ret);

#endif
