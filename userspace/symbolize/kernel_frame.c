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

static uint32_t push_new(struct stack_build *build, uint64_t address)
{
	struct symbolizer *symbolizer = build->symbolizer;
	const char *name = "", *module = "kernel";
	struct profile_frame frame = { .kind = FRAME_KERNEL, .bci = -1, .address = address };

	if (!symbolizer->kernel_tried)
		open_kernel_symbols(symbolizer);
	if (symbolizer->kernel)
		kernel_symbols_find(symbolizer->kernel, address, &name, &module);
	frame.name = profile_string(build->profile, name);
	frame.mapping = module_mapping(build, module);
	return stack_push(build, &frame);
}

void kernel_push(struct stack_build *build, uint64_t address)
{
	struct hmap *known = &build->symbolizer->kernel_frames;
	uint64_t id;

	if (hmap_get(known, address, &id))
		stack_push_known(build, (uint32_t)id);
	else
		hmap_put(known, address, push_new(build, address));
}
