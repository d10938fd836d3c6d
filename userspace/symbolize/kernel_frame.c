// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "symbolize/symbolizer_private.h"

struct kernel_reading {
	struct worker_job job;
	struct symbolizer *symbolizer;
	bool of_data;
	struct kernel_symbols *kernel;
	struct err err;
};

static void reading_run(struct worker_job *job)
{
	struct kernel_reading *reading = container_of(job, struct kernel_reading, job);

	(reading->of_data ? kernel_symbols_new_data : kernel_symbols_new)(&reading->kernel,
									  &reading->err);
}

static void reading_done(struct worker_job *job)
{
	struct kernel_reading *reading = container_of(job, struct kernel_reading, job);
	struct symbolizer *symbolizer = reading->symbolizer;

	if (reading->of_data) {
		symbolizer->kernel_data = reading->kernel;
	} else {
		symbolizer->kernel = reading->kernel;
		symbolizer->kernel_err = reading->err;
		symbolizer->kernel_read = true;
	}
	free(reading);
}

static void begin_reading(struct symbolizer *symbolizer, bool of_data)
{
	struct kernel_reading *reading = xcalloc(1, sizeof(*reading));

	reading->job.run = reading_run;
	reading->job.done = reading_done;
	reading->symbolizer = symbolizer;
	reading->of_data = of_data;
	if (symbolizer->pool) {
		worker_pool_submit(symbolizer->pool, &reading->job);
		return;
	}
	reading_run(&reading->job);
	reading_done(&reading->job);
}

/*
 * At the first kernel frame: BPF programs that were loaded before it (our own) are among them then. A hundred thousand symbols take
 * a tenth of a second, in which the loop would name nothing else.
 */
void kernel_ask(struct symbolizer *symbolizer)
{
	if (symbolizer->kernel_asked)
		return;
	symbolizer->kernel_asked = true;
	begin_reading(symbolizer, false);
}

const char *symbolizer_variable_of_kernel(struct symbolizer *symbolizer, uint64_t address)
{
	if (!symbolizer->kernel_data_asked)
		begin_reading(symbolizer, true);
	symbolizer->kernel_data_asked = true;
	return symbolizer->kernel_data ? kernel_symbols_at(symbolizer->kernel_data, address) : NULL;
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

	kernel_ask(symbolizer);
	if (!symbolizer->kernel_read && build->may_wait) {
		answer->sure = ANSWER_WAIT;
		return;
	}
	answer->sure = ANSWER_PLACE;
	answer->of_moment = !symbolizer->kernel_read;
	if (symbolizer->kernel &&
	    kernel_symbols_find(symbolizer->kernel, query->address, &name, &module))
		answer->sure = ANSWER_RANGE;
	frame.name = profile_string(build->profile, name);
	frame.mapping = module_mapping(build, module);
	answer_add(answer, &frame);
}
