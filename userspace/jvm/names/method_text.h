/* SPDX-License-Identifier: Apache-2.0 */
/* The names of methods and their line tables, where method_chain.h has led. */
#ifndef HOSTPROF_JVM_NAMES_METHOD_TEXT_H
#define HOSTPROF_JVM_NAMES_METHOD_TEXT_H

#include "base/strbuf.h"
#include "jvm/java_name.h"
#include "jvm/names/method_chain.h"

struct method_text {
	char class_name[METHOD_MAX_NAME + 1]; /* as in the Symbol, with '/' */
	char name[METHOD_MAX_NAME + 1];
	char source[METHOD_MAX_NAME + 1]; /* "" unknown */
	/* "(I)V"; "" not known, or longer than it may be: one that is cut is another one. */
	char descriptor[JAVA_MAX_DESCRIPTOR + 1];
	size_t line_at, line_bytes; /* its line table, in the bytes that came with it */
};

/*
 * The names of CHAIN, and its line table's bytes behind LINES (none when the method has none; a table or a
 * source that cannot be read costs no name). -ESTALE: it was not the same method any more when they were read.
 */
int method_chain_read_names(const struct vm_memory *memory, const struct jvm_layout *layout,
			    const struct method_chain *chain, struct method_text *ret_text,
			    struct strbuf *lines);
/*
 * Those of COUNT chains of method_chains_follow(), METHOD_CHAINS_AT_ONCE at most, in the same read. Who looks again whether they
 * were methods all the time does so afterwards. RET_ERRORS: 0, or why not, of each.
 */
void method_chains_read_names(const struct vm_memory *memory, const struct jvm_layout *layout,
			      const struct method_chain *chains, unsigned int count,
			      struct method_text *ret_texts, struct strbuf *lines, int *ret_errors);

#endif
