/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/view/view_debuginfod.h"

#include "base/log.h"
#include "elf/reader/reader.h"
#include "symbolize/late_names.h"
#include "wall/wall.h"

/* Of the process that reads what came. */
#define READER_BYTES (3ULL << 30)

static int fetch(void *data, const char *build_id)
{
	return debuginfod_fetch(data, build_id);
}

int view_debuginfod(struct profile *profile, struct debuginfod *it, struct err *err)
{
	struct late_names_figures figures;
	int r;

	reader_set_memory(READER_BYTES);
	r = wall_begin(&reader_trade, NULL, err);
	if (r < 0)
		return r;
	late_names_add(profile, fetch, it, &figures);
	log_info(
		"debuginfod: %u frames named, by the debug files of %u of %u files without symbols",
		figures.frames, figures.found, figures.wanted);
	reader_end();
	wall_end();
	return 0;
}
