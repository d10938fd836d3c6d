// SPDX-License-Identifier: Apache-2.0
#include "session/compilations/compilation_row.h"

#include <string.h>

#include "base/macros.h"
#include "profile/compilation_reason.h"
#include "symbolize/compilation.h"
#include "symbolize/waits/wait.h"

/* C2 has no other (share/compiler/compilerDefinitions.hpp: CompLevel_full_optimization). */
#define LEVEL_OF_C2 4

static unsigned int level_of(const struct compilation *c, const char *compiler)
{
	if (c->head.level)
		return c->head.level;
	return strcmp(compiler, "C2") ? 0 : LEVEL_OF_C2;
}

uint32_t compilation_reason(struct profile *p, const struct wire_sample *sample)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	struct compilation c;
	unsigned int level;

	if (!compilation_read(sample, &c))
		return profile_string(p, wait_reason(sample->cause));
	compilation_add_compiler(&text, &c);
	level = level_of(&c, strbuf_str(&text));
	if (level)
		strbuf_addf(&text, COMPILATION_TIER "%u", level);
	if (c.head.success & WIRE_COMPILED_OSR)
		strbuf_addstr(&text, COMPILATION_OSR);
	if (c.head.success & WIRE_COMPILED_KNOWN && !(c.head.success & WIRE_COMPILED_SUCCESS))
		strbuf_addstr(&text, COMPILATION_FAILED);
	return profile_string(p, strbuf_str(&text));
}

void compilation_fill_row(struct profile_sample *row, const struct wire_sample *sample)
{
	struct compilation c;
	uint64_t length_ns;

	row->chance = 1;
	if (!compilation_read(sample, &c))
		return;
	row->chance = MAX(c.head.chance, 1U);
	row->identity = c.head.compile_id;
	length_ns = row->weight / row->chance;
	row->queued = (length_ns - MIN(c.head.run_ns, length_ns)) * row->chance;
}
