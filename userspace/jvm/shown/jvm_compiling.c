/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/shown/jvm_compiling.h"

#include <stddef.h>

#include "base/macros.h"

struct row {
	const char *type, *field;
	size_t slot;
};

#define SLOT(name) offsetof(struct wire_compiling, name)
static const struct row compiling_rows[] = {
	{ "CompilerThread", "_env", SLOT(env) },
	{ "ciEnv", "_task", SLOT(task) },
	{ "CompileTask", "_method", SLOT(method) },
	{ "CompileTask", "_osr_bci", SLOT(osr_bci) },
};
#undef SLOT

#define SLOT(name) offsetof(struct wire_compile_task, name)
static const struct row task_rows[] = {
	{ "CompileTask", "_comp_level", SLOT(level) },
	{ "CompileTask", "_compile_id", SLOT(id) },
	{ "CompileTask", "_osr_bci", SLOT(osr_bci) },
};
#undef SLOT

/* The offsets of ROWS into the slots of INTO. */
static int read_rows(const struct vmstructs *vs, const struct row *rows, size_t count, void *into)
{
	for (size_t i = 0; i < count; i++) {
		uint16_t *slot = (uint16_t *)(void *)((char *)into + rows[i].slot);
		int r = vmstructs_near_offset(vs, rows[i].type, rows[i].field, slot);

		if (r < 0)
			return r;
	}
	return 0;
}

int jvm_compiling_read(const struct vmstructs *vs, struct wire_compiling *ret_compiling)
{
	struct wire_compiling compiling = { 0 };
	int r = read_rows(vs, compiling_rows, ARRAY_SIZE(compiling_rows), &compiling);

	if (r == 0)
		*ret_compiling = compiling;
	return r;
}

int jvm_compile_task_read(const struct vmstructs *vs, struct wire_compile_task *ret_task)
{
	struct wire_compile_task task = { 0 };
	int r = read_rows(vs, task_rows, ARRAY_SIZE(task_rows), &task);

	if (r == 0)
		*ret_task = task;
	return r;
}
