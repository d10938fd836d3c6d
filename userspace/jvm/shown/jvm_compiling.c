/* SPDX-License-Identifier: Apache-2.0 */
#include "jvm/shown/jvm_compiling.h"

#include <errno.h>
#include <stddef.h>

#include "base/macros.h"
#include "jvm/layout/jvm_layout.h"

static const struct {
	const char *type, *field;
	size_t slot;
} fields[] = {

#define SLOT(name) offsetof(struct wire_compiling, name)
	{ "CompilerThread", "_env", SLOT(env) },
	{ "ciEnv", "_task", SLOT(task) },
	{ "CompileTask", "_method", SLOT(method) },
	{ "CompileTask", "_osr_bci", SLOT(osr_bci) },
#undef SLOT
};

int jvm_compiling_read(const struct vmstructs *vs, struct wire_compiling *ret_compiling)
{
	struct wire_compiling compiling = { 0 };

	for (unsigned int i = 0; i < ARRAY_SIZE(fields); i++) {
		uint16_t *slot = (uint16_t *)(void *)((char *)&compiling + fields[i].slot);
		uint64_t offset;

		if (vmstructs_field_offset(vs, fields[i].type, fields[i].field, &offset) < 0 ||
		    offset > JVM_LAYOUT_MAX_STRUCT)
			return -EOPNOTSUPP;
		*slot = (uint16_t)offset;
	}
	*ret_compiling = compiling;
	return 0;
}
