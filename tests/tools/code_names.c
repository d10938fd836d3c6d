/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of a live JVM's code as a recording reads them from outside. Lines "ADDRESS COMPILE-ID" (or -: what is
 * there, as a stub has none) of standard input are answered by "method NAME(DESCRIPTOR)TYPE", "stub NAME" or "none ERROR"; with "chains" by all frames of
 * that place, "method NAME@BCI:LINE < NAME@BCI:LINE < …", innermost first. Usage: code_names PID [chains]
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jvm/layout/jvm_layout_read.h"
#include "jvm/layout/vmstructs.h"
#include "jvm/names/code_blob.h"
#include "jvm/names/code_names.h"

static void print_chain(const struct java_answer *answer)
{
	for (unsigned int i = 0; i < answer->count; i++) {
		const struct java_frame *frame = &answer->frames[i];

		printf("%s %s.%s%s@%d:%d", i ? " <" : "method", frame->class_name, frame->method,
		       frame->descriptor, frame->bci, frame->line);
	}
	printf("\n");
}

/* What a sample would have of the blob at ADDRESS. */
static uint32_t id_now(const struct vmstructs *vs, const struct jvm_layout *layout,
		       uint64_t address)
{
	struct code_blob blob = { 0 };

	(void)code_blob_find(vmstructs_memory(vs), layout, address, &blob);
	return blob.compile_id;
}

static void answer(struct code_names *names, uint64_t address, uint32_t compile_id, bool chains)
{
	static struct java_answer answer;
	const struct java_frame *outer;
	int r = code_names_find(names, address, compile_id, &answer);

	if (r < 0)
		printf("none %s\n", strerror(-r));
	else if (answer.stub)
		printf("stub %s\n", answer.stub);
	else if (chains)
		print_chain(&answer);
	else {
		outer = &answer.frames[answer.count - 1];
		printf("method %s.%s%s\n", outer->class_name, outer->method, outer->descriptor);
	}
	fflush(stdout);
}

int main(int argc, char **argv)
{
	_cleanup_(vmstructs_closep) struct vmstructs *vs = NULL;
	_cleanup_(method_names_freep) struct method_names *methods = NULL;
	_cleanup_(code_names_freep) struct code_names *names = NULL;
	struct scopes_layout scopes;
	struct jvm_layout layout;
	struct err err = { 0 };
	uint64_t address;
	char line[128], id[32];

	if (argc != 2 && argc != 3) {
		fprintf(stderr, "usage: %s PID [chains]\n", argv[0]);
		return 2;
	}
	if (vmstructs_open(NULL, (uint32_t)atoi(argv[1]), NULL, &vs, &err) < 0 ||
	    jvm_layout_read(vs, &layout, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	methods = method_names_new(vmstructs_memory(vs), &layout);
	scopes_layout_read(vs, &scopes);
	names = code_names_new(vmstructs_memory(vs), &layout, &scopes, methods);
	while (fgets(line, sizeof(line), stdin))
		if (sscanf(line, "%" SCNx64 " %31s", &address, id) == 2)
			answer(names, address,
			       strcmp(id, "-") ? (uint32_t)strtoul(id, NULL, 10)
					       : id_now(vs, &layout, address),
			       argc == 3);
	return 0;
}
