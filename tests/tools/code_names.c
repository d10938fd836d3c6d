/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of a live JVM's code as a recording reads them from outside. Lines "ADDRESS COMPILE-ID" of
 * standard input are answered by "method NAME", "stub NAME" or "none ERROR". Usage: code_names PID
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "jvm/layout/jvm_layout_read.h"
#include "jvm/layout/vmstructs.h"
#include "jvm/names/code_names.h"

static void answer(struct code_names *names, uint64_t address, uint32_t compile_id)
{
	struct java_frame frame;
	const char *stub;
	int r = code_names_find(names, address, compile_id, &frame, &stub);

	if (r < 0)
		printf("none %s\n", strerror(-r));
	else if (stub)
		printf("stub %s\n", stub);
	else
		printf("method %s.%s\n", frame.class_name, frame.method);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	_cleanup_(vmstructs_closep) struct vmstructs *vs = NULL;
	_cleanup_(method_names_freep) struct method_names *methods = NULL;
	_cleanup_(code_names_freep) struct code_names *names = NULL;
	struct jvm_layout layout;
	struct err err = { 0 };
	uint64_t address;
	uint32_t compile_id;
	char line[128];

	if (argc != 2) {
		fprintf(stderr, "usage: %s PID\n", argv[0]);
		return 2;
	}
	if (vmstructs_open(NULL, (uint32_t)atoi(argv[1]), NULL, &vs, &err) < 0 ||
	    jvm_layout_read(vs, &layout, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		return 1;
	}
	methods = method_names_new(vmstructs_memory(vs), &layout);
	names = code_names_new(vmstructs_memory(vs), &layout, methods);
	while (fgets(line, sizeof(line), stdin))
		if (sscanf(line, "%" SCNx64 " %" SCNu32, &address, &compile_id) == 2)
			answer(names, address, compile_id);
	return 0;
}
