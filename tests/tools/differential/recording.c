// SPDX-License-Identifier: Apache-2.0
#include "recording.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#include "base/file.h"
#include "base/strbuf.h"
#include "code_files.h"
#include "tools/recorded/recorded_walk.h"

struct recording {
	struct recorded_bytes bytes;
	struct recorded_tables tables;
	struct strbuf text;
};

static void keep_bytes(uint64_t address, const void *bytes, size_t len, void *data)
{
	struct recording *r = data;

	for (size_t i = 0; i < len; i++)
		recorded_bytes_add(&r->bytes, address + i, ((const uint8_t *)bytes)[i]);
}

static void keep_rows(struct recording *r, const struct own_walk *own, uint64_t address)
{
	const struct wire_range *range = own_walk_range(own, address);
	struct code_file *file = range ? code_file_by_number(range->file) : NULL;
	struct cfi_rows rows = { VEC_INIT };
	struct err err = { 0 };

	if (range)
		recorded_tables_keep_range(&r->tables, range);
	if (!file || cfi_file_page(file->cfi, address - range->bias, &rows, &err) < 0)
		return;
	recorded_tables_keep_rows(&r->tables, file->number, address - range->bias, &rows);
	vec_release(&rows.v);
}

static void add_frames(struct recording *r, const struct snapshot *s, const struct frames *expected)
{
	strbuf_addf(&r->text, "pc %#" PRIx64 "\n", s->pc);
	for (int i = 0; i < 16; i++)
		strbuf_addf(&r->text, "reg %d %#" PRIx64 "\n", i, s->regs[i]);
	for (size_t i = 0; i < expected->count; i++) {
		const struct mapping *m =
			process_find_mapping(s->process, expected->pcs[i] - (i > 0));
		const char *slash = m ? strrchr(m->path, '/') : NULL;

		strbuf_addf(&r->text, "frame %#" PRIx64 " %s\n", expected->pcs[i],
			    slash	      ? slash + 1
			    : m && m->path[0] ? m->path
					      : "?");
	}
}

int recording_write(const char *path, const char *origin, const struct snapshot *snapshot,
		    struct own_walk *own, const struct frames *expected, size_t limit)
{
	static struct frames frames;
	struct recording r = { .text = STRBUF_INIT };
	int fd, ret = -E2BIG;

	own_walk_trace(own, keep_bytes, &r);
	own_walk_frames(own, snapshot, &frames);
	own_walk_trace(own, NULL, NULL);
	for (size_t i = 0; i < frames.count; i++)
		keep_rows(&r, own, frames.pcs[i] - !frames.exact[i]);
	strbuf_addf(&r.text, "# %s\n", origin);
	add_frames(&r, snapshot, expected);
	recorded_tables_print(&r.tables, &r.text);
	recorded_bytes_print(&r.bytes, &r.text);
	if (r.text.len <= limit) {
		fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
		ret = fd < 0 ? -errno : file_write_all(fd, r.text.buf, r.text.len);
		closep(&fd);
	}
	vec_release(&r.bytes.v);
	recorded_tables_release(&r.tables);
	strbuf_release(&r.text);
	return ret;
}

/* --- kinds ------------------------------------------------------------------------------------ */

/* What a callee must keep, besides %rsp. */
static bool is_kept(uint8_t reg)
{
	return reg == DWARF_RBX || reg == DWARF_RBP || reg == DWARF_R13 || reg == DWARF_R15;
}

static const char *kind_of_cfa(const struct wire_rule *rule, bool leaf)
{
	if (rule->ra_slot & WIRE_RA_REGISTER)
		return "ra_register";
	if (rule->cfa_reg == DWARF_RSP || rule->cfa_reg == DWARF_RBP)
		return NULL;
	return leaf || is_kept(rule->cfa_reg) ? "cfa_register" : "caller_register";
}

static const char *kind_of_rule(const struct wire_rule *rule, uint64_t pc, bool leaf)
{
	switch (rule->kind) {
	case WIRE_RULE_CFA: return kind_of_cfa(rule, leaf);
	case WIRE_RULE_PLT: return (int)(pc & 15) >= rule->cfa_add ? "plt_pushed" : "plt";
	case WIRE_RULE_SIGNAL: return "signal";
	case WIRE_RULE_DEREF: return leaf ? "deref_leaf" : "deref";
	case WIRE_RULE_NONE: return leaf ? "none_leaf" : "none";
	case WIRE_RULE_FP: return "fp";
	case WIRE_RULE_GOROUTINE: return "goroutine";
	default: return NULL;
	}
}

void recording_kinds(const struct snapshot *snapshot, struct own_walk *own,
		     const struct frames *frames, void (*fn)(const char *kind, void *data),
		     void *data)
{
	for (size_t i = 0; i < frames->count; i++) {
		uint64_t address = frames->pcs[i] - !frames->exact[i];
		const struct mapping *m = process_find_mapping(snapshot->process, address);
		const struct wire_range *range = own_walk_range(own, address);
		struct wire_rule rule = own_walk_rule(own, address);
		const char *kind = kind_of_rule(&rule, frames->pcs[i], i == 0);

		if (m && strcmp(m->path, "[vdso]") == 0)
			kind = "vdso";
		else if (range && !range->file)
			kind = i ? "jit" : "jit_leaf";
		if (kind)
			fn(kind, data);
		if (m && strstr(m->path, "/libgcc_s.so"))
			fn("throwing", data);
		if (m && i > 1 && strstr(m->path, "/ld-linux"))
			fn("linker", data);
	}
	if (frames->count > 8 && frames->count < 40)
		fn("plain", data);
}
