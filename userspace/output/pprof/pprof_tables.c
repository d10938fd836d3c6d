/* SPDX-License-Identifier: Apache-2.0 */
#include "output/pprof/pprof_tables.h"

#include "output/pprof/pb.h"
#include "output/pprof/pprof_fields.h"
#include "profile/frame_kind.h"

/* String ids of the pprof table. */
struct pprof_function {
	uint32_t name;
	uint32_t system_name; /* with the signature */
	uint32_t file;
};

void pprof_tables_init(struct pprof_tables *t, const struct profile *p, bool annotate)
{
	*t = (struct pprof_tables){ .profile = p, .annotate = annotate };
	intern_init(&t->strings);
	intern_init(&t->functions);
	intern_init(&t->locations);
	t->frame_functions = xcalloc(intern_len(&p->frames) + 1, sizeof(uint32_t));
	t->frame_locations = xcalloc(intern_len(&p->frames) + 1, sizeof(uint32_t));
	t->used_mappings = xcalloc(intern_len(&p->mappings) + 1, sizeof(bool));
	pprof_string(t, "");
}

void pprof_tables_release(struct pprof_tables *t)
{
	strbuf_release(&t->scratch);
	free(t->used_mappings);
	free(t->frame_locations);
	free(t->frame_functions);
	intern_release(&t->locations);
	intern_release(&t->functions);
	intern_release(&t->strings);
}

uint32_t pprof_string(struct pprof_tables *t, const char *s)
{
	return intern_put(&t->strings, s, strlen(s), NULL);
}

static uint32_t name_of(struct pprof_tables *t, const struct profile_frame *f,
			const struct frame_name_options *options)
{
	strbuf_reset(&t->scratch);
	frame_format_name(&t->scratch, t->profile, f, options);
	return intern_put(&t->strings, strbuf_str(&t->scratch), t->scratch.len, NULL);
}

static uint32_t function_of(struct pprof_tables *t, uint32_t frame)
{
	struct frame_name_options options = { .annotate = t->annotate, .names = t->names };
	const struct profile_frame *f = profile_get_frame(t->profile, frame);
	struct pprof_function function;

	if (t->frame_functions[frame])
		return t->frame_functions[frame];
	function.name = name_of(t, f, &options);
	options.names |= FRAME_NAMES_SIGNATURES;
	function.system_name = name_of(t, f, &options);
	function.file = pprof_string(t, profile_get_string(t->profile, f->file));
	t->frame_functions[frame] =
		intern_put(&t->functions, &function, sizeof(function), NULL) + 1;
	return t->frame_functions[frame];
}

/* The index of "[JIT]", where methods are that no file holds. */
static uint32_t jit_mapping(const struct pprof_tables *t)
{
	return intern_len(&t->profile->mappings);
}

/* A mapping id of the profile, jit_mapping() or PROFILE_NONE. */
static uint32_t mapping_of(const struct pprof_tables *t, const struct profile_frame *f)
{
	if (f->mapping != PROFILE_NONE)
		return f->mapping;
	switch ((enum frame_kind)f->kind) {
	case FRAME_JAVA_INTERPRETED:
	case FRAME_JAVA_C1:
	case FRAME_JAVA_JIT:
	case FRAME_JAVA_INLINED:
	case FRAME_STUB:
	case FRAME_COMPILING:
	case FRAME_JIT_OTHER: return jit_mapping(t);
	default: return PROFILE_NONE;
	}
}

static uint32_t add_location(struct pprof_tables *t, const uint32_t *frames, uint32_t len)
{
	const struct profile_frame *host = profile_get_frame(t->profile, frames[len - 1]);
	uint32_t mapping = mapping_of(t, host);
	bool is_new;
	uint32_t id;

	id = intern_put(&t->locations, frames, len * sizeof(*frames), &is_new) + 1;
	if (!is_new)
		return id;
	for (uint32_t i = 0; i < len; i++)
		function_of(t, frames[i]);
	if (mapping != PROFILE_NONE)
		t->used_mappings[mapping] = true;
	return id;
}

uint32_t pprof_location(struct pprof_tables *t, const uint32_t *frames, uint32_t len)
{
	if (len > 1)
		return add_location(t, frames, len);
	if (!t->frame_locations[frames[0]])
		t->frame_locations[frames[0]] = add_location(t, frames, 1);
	return t->frame_locations[frames[0]];
}

static void write_line(struct pprof_tables *t, uint32_t frame, struct strbuf *out)
{
	const struct profile_frame *f = profile_get_frame(t->profile, frame);

	strbuf_reset(&t->scratch);
	pb_add_u64(&t->scratch, LINE_FUNCTION_ID, t->frame_functions[frame]);
	pb_add_u64(&t->scratch, LINE_LINE, (uint64_t)MAX(f->line, 0));
	pb_add_element(out, LOCATION_LINE, t->scratch.buf, t->scratch.len);
}

static void write_locations(struct pprof_tables *t, struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf body = STRBUF_INIT;

	for (uint32_t i = 0; i < intern_len(&t->locations); i++) {
		size_t bytes;
		const uint32_t *frames = intern_get(&t->locations, i, &bytes);
		size_t len = bytes / sizeof(*frames);
		const struct profile_frame *host = profile_get_frame(t->profile, frames[len - 1]);

		strbuf_reset(&body);
		pb_add_u64(&body, LOCATION_ID, i + 1);
		pb_add_u64(&body, LOCATION_MAPPING_ID, mapping_of(t, host) + 1);
		pb_add_u64(&body, LOCATION_ADDRESS, host->address);
		for (size_t j = 0; j < len; j++)
			write_line(t, frames[j], &body);
		pb_add_element(out, PROFILE_LOCATION, body.buf, body.len);
	}
}

static void write_functions(const struct pprof_tables *t, struct strbuf *out)
{
	_cleanup_strbuf_ struct strbuf body = STRBUF_INIT;

	for (uint32_t i = 0; i < intern_len(&t->functions); i++) {
		const struct pprof_function *f = intern_get(&t->functions, i, NULL);

		strbuf_reset(&body);
		pb_add_u64(&body, FUNCTION_ID, i + 1);
		pb_add_u64(&body, FUNCTION_NAME, f->name);
		pb_add_u64(&body, FUNCTION_SYSTEM_NAME, f->system_name);
		pb_add_u64(&body, FUNCTION_FILENAME, f->file);
		pb_add_element(out, PROFILE_FUNCTION, body.buf, body.len);
	}
}

/* The flags say what names there are, so that pprof does not look for the file to add more. */
static void write_mapping(struct pprof_tables *t, uint32_t id, const struct profile_mapping *m,
			  struct strbuf *out)
{
	const char *path = m ? profile_get_string(t->profile, m->path) : "[JIT]";
	bool jit = !strcmp(path, "[JIT]");
	struct strbuf *body = &t->scratch;

	strbuf_reset(body);
	pb_add_u64(body, MAPPING_ID, id + 1);
	if (m) {
		pb_add_u64(body, MAPPING_START, m->start);
		pb_add_u64(body, MAPPING_LIMIT, m->limit);
		pb_add_u64(body, MAPPING_FILE_OFFSET, m->offset);
		pb_add_u64(body, MAPPING_BUILD_ID,
			   pprof_string(t, profile_get_string(t->profile, m->build_id)));
	}
	pb_add_u64(body, MAPPING_FILENAME, pprof_string(t, path));
	pb_add_u64(body, MAPPING_HAS_FUNCTIONS, true);
	pb_add_u64(body, MAPPING_HAS_FILENAMES, jit);
	pb_add_u64(body, MAPPING_HAS_LINE_NUMBERS, jit);
	pb_add_u64(body, MAPPING_HAS_INLINE_FRAMES, jit);
	pb_add_element(out, PROFILE_MAPPING, body->buf, body->len);
}

static void write_mappings(struct pprof_tables *t, struct strbuf *out)
{
	uint32_t jit = jit_mapping(t);

	for (uint32_t id = 0; id < jit; id++)
		if (t->used_mappings[id])
			write_mapping(t, id, profile_get_mapping(t->profile, id), out);
	if (t->used_mappings[jit])
		write_mapping(t, jit, NULL, out);
}

void pprof_tables_write(struct pprof_tables *t, struct strbuf *out)
{
	write_mappings(t, out);
	write_locations(t, out);
	write_functions(t, out);
	for (uint32_t i = 0; i < intern_len(&t->strings); i++) {
		size_t len;
		const void *s = intern_get(&t->strings, i, &len);

		pb_add_element(out, PROFILE_STRING_TABLE, s, len);
	}
}
