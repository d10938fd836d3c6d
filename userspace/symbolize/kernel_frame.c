// SPDX-License-Identifier: Apache-2.0
#include <string.h>

#include "symbolize/symbolizer_private.h"

/*
 * Symbols are read at the first kernel frame: BPF programs that were loaded before it (our own)
 * are among them then.
 */
static void open_kernel_symbols(struct symbolizer *symbolizer)
{
	symbolizer->kernel_tried = true;
	kernel_symbols_new(&symbolizer->kernel, &symbolizer->kernel_err);
}

/* "[kernel]" with its build id, "[ext4]" or "[bpf]" without. */
static uint32_t module_mapping(struct stack_build *build, const char *module)
{
	const struct kernel_symbols *kernel = build->symbolizer->kernel;
	struct profile_mapping mapping = { 0 };
	char path[80];

	snprintf(path, sizeof(path), "[%s]", module);
	mapping.path = profile_string(build->profile, path);
	if (kernel && strcmp(module, "kernel") == 0)
		mapping.build_id = profile_string(build->profile, kernel_symbols_build_id(kernel));
	return profile_mapping(build->profile, &mapping);
}

void kernel_find(struct stack_build *build, struct symbol_query *query, struct answer *answer)
{
	struct symbolizer *symbolizer = build->symbolizer;
	const char *name = "", *module = "kernel";
	struct profile_frame frame = { .kind = FRAME_KERNEL, .bci = -1, .address = query->address };

	if (!symbolizer->kernel_tried)
		open_kernel_symbols(symbolizer);
	answer->sure = ANSWER_PLACE;
	if (symbolizer->kernel &&
	    kernel_symbols_find(symbolizer->kernel, query->address, &name, &module))
		answer->sure = ANSWER_RANGE;
	frame.name = profile_string(build->profile, name);
	frame.mapping = module_mapping(build, module);
	answer_add(answer, &frame);
}
