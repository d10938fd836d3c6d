// SPDX-License-Identifier: Apache-2.0
#include "symbolize/late_names.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "elf/image_content.h"

/* What the symbols of one debug file may take; those of a browser with debug data take 100 MB. */
#define MAX_SYMBOL_BYTES (1UL << 30)

static bool wants_name(const struct profile_frame *f)
{
	return f->kind == FRAME_NATIVE && !f->name && !f->class_name && f->address &&
	       f->mapping != PROFILE_NONE;
}

static uint32_t name_frames(struct profile *p, uint32_t mapping, struct symbols *symbols)
{
	uint32_t named = 0;

	for (uint32_t id = 0; id < intern_len(&p->frames); id++) {
		const struct profile_frame *f = profile_get_frame(p, id);
		struct elf_symbol symbol;

		if (f->mapping != mapping || !wants_name(f) ||
		    !symbols_find(symbols, f->address, &symbol))
			continue;
		profile_name_frame(p, id, profile_string(p, symbol.name),
				   symbol.cpp ? FRAME_CPP : FRAME_NATIVE);
		named++;
	}
	return named;
}

static void name_mapping(struct profile *p, uint32_t id, int debug_fd,
			 struct late_names_figures *figures)
{
	const struct profile_mapping *mapping = profile_get_mapping(p, id);
	struct image_content content;

	image_content_read(debug_fd, 0, profile_get_string(p, mapping->path), MAX_SYMBOL_BYTES,
			   &content);
	if (!strcmp(content.build_id, profile_get_string(p, mapping->build_id))) {
		figures->found++;
		figures->frames += name_frames(p, id, &content.symbols);
	}
	image_content_release(&content);
}

void late_names_add(struct profile *p, late_names_fetch_fn *fetch, void *data,
		    struct late_names_figures *ret_figures)
{
	uint32_t count = intern_len(&p->mappings);
	_cleanup_free_ bool *wanted = xcalloc(count + 1, sizeof(*wanted));
	struct late_names_figures figures = { 0 };
	int r = 0;

	for (uint32_t id = 0; id < intern_len(&p->frames); id++)
		if (wants_name(profile_get_frame(p, id)))
			wanted[profile_get_frame(p, id)->mapping] = true;
	for (uint32_t id = 0; id < count; id++) {
		_cleanup_close_ int fd = -1;
		const struct profile_mapping *mapping = profile_get_mapping(p, id);

		if (!wanted[id] || !mapping->build_id)
			continue;
		figures.wanted++;
		if (r != -ETIMEDOUT && figures.wanted <= LATE_NAMES_MAX_FILES)
			r = fd = fetch(data, profile_get_string(p, mapping->build_id));
		if (fd >= 0)
			name_mapping(p, id, fd, &figures);
	}
	*ret_figures = figures;
}
