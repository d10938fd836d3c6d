// SPDX-License-Identifier: Apache-2.0
#include "recording.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>

#include "base/file.h"
#include "base/strbuf.h"
#include "code_files.h"

struct byte {
	uint64_t address;
	uint8_t value;
};

struct used_row {
	uint32_t file, page;
	struct cfi_row row;
};

struct recording {
	VEC(struct byte) bytes;
	VEC(struct used_row) rows;
	VEC(const struct wire_range *) ranges;
	struct strbuf text;
};

/* --- memory ----------------------------------------------------------------------------------- */

static void keep_bytes(uint64_t address, const void *bytes, size_t len, void *data)
{
	struct recording *r = data;

	for (size_t i = 0; i < len; i++) {
		struct byte byte = { address + i, ((const uint8_t *)bytes)[i] };

		vec_push(&r->bytes, byte);
	}
}

static int compare_bytes(const void *a, const void *b)
{
	const struct byte *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

/* Runs of bytes, at most 32 to a line. */
static void add_memory(struct recording *r)
{
	uint64_t next = 0;
	size_t run = 0;

	qsort(r->bytes.items, r->bytes.len, sizeof(r->bytes.items[0]), compare_bytes);
	for (size_t i = 0; i < r->bytes.len; i++) {
		const struct byte *byte = &r->bytes.items[i];

		if (i && byte->address == byte[-1].address)
			continue;
		if (!i || byte->address != next || run == 32) {
			strbuf_addf(&r->text, "%smemory %#" PRIx64 " ", i ? "\n" : "",
				    byte->address);
			run = 0;
		}
		strbuf_addf(&r->text, "%02x", byte->value);
		next = byte->address + 1;
		run++;
	}
	strbuf_addch(&r->text, '\n');
}

/* --- tables ----------------------------------------------------------------------------------- */

static const struct wire_range *find_range_of(const struct own_walk *own, uint64_t address)
{
	size_t count;
	const struct wire_range *ranges = own_walk_ranges(own, &count);

	for (size_t i = 0; i < count; i++)
		if (address >= ranges[i].start && address < ranges[i].end)
			return &ranges[i];
	return NULL;
}

static void keep_range(struct recording *r, const struct wire_range *range)
{
	for (size_t i = 0; i < r->ranges.len; i++)
		if (r->ranges.items[i] == range)
			return;
	vec_push(&r->ranges, range);
}

static void keep_row(struct recording *r, uint32_t file, uint32_t page, const struct cfi_row *row)
{
	struct used_row used = { file, page, *row };

	for (size_t i = 0; i < r->rows.len; i++)
		if (r->rows.items[i].file == file && r->rows.items[i].page == page &&
		    r->rows.items[i].row.offset == row->offset)
			return;
	vec_push(&r->rows, used);
}

/* The row of ADDRESS and its neighbours: what goes wrong by one row is to show. */
static void keep_rows(struct recording *r, const struct own_walk *own, uint64_t address)
{
	const struct wire_range *range = find_range_of(own, address);
	struct code_file *file = range ? code_file_by_number(range->file) : NULL;
	struct cfi_rows rows = { VEC_INIT };
	struct err err = { 0 };
	size_t at = 0;

	if (range)
		keep_range(r, range);
	if (!file || cfi_file_page(file->cfi, address - range->bias, &rows, &err) < 0)
		return;
	address -= range->bias;
	while (at + 1 < rows.v.len &&
	       rows.v.items[at + 1].offset <= (address & (WIRE_PAGE_BYTES - 1)))
		at++;
	keep_row(r, file->number, (uint32_t)(address >> WIRE_PAGE_SHIFT), &rows.v.items[0]);
	for (size_t i = at ? at - 1 : 0; i < rows.v.len && i <= at + 1; i++)
		keep_row(r, file->number, (uint32_t)(address >> WIRE_PAGE_SHIFT), &rows.v.items[i]);
	vec_release(&rows.v);
}

static int compare_rows(const void *a, const void *b)
{
	const struct used_row *x = a, *y = b;

	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	if (x->page != y->page)
		return x->page < y->page ? -1 : 1;
	return x->row.offset < y->row.offset ? -1 : x->row.offset > y->row.offset;
}

static int compare_ranges(const void *a, const void *b)
{
	const struct wire_range *const *x = a, *const *y = b;

	return (*x)->start < (*y)->start ? -1 : (*x)->start > (*y)->start;
}

static void add_tables(struct recording *r)
{
	qsort(r->ranges.items, r->ranges.len, sizeof(r->ranges.items[0]), compare_ranges);
	for (size_t i = 0; i < r->ranges.len; i++) {
		const struct wire_range *range = r->ranges.items[i];

		strbuf_addf(&r->text, "range %#" PRIx64 " %#" PRIx64 " %#" PRIx64 " %u\n",
			    range->start, range->end, range->bias, range->file);
	}
	qsort(r->rows.items, r->rows.len, sizeof(r->rows.items[0]), compare_rows);
	for (size_t i = 0; i < r->rows.len; i++) {
		const struct used_row *used = &r->rows.items[i];
		const struct wire_rule *rule = &used->row.rule;

		strbuf_addf(&r->text, "row %u %#x %#x  %u %u %d %d %u %u %u %u %u %u %u\n",
			    used->file, used->page, used->row.offset, rule->kind, rule->cfa_reg,
			    rule->cfa_offset, rule->cfa_add, rule->ra_slot, rule->rbx_slot,
			    rule->rbp_slot, rule->r13_slot, rule->r15_slot, rule->cfa_index,
			    rule->home_reg);
	}
}

/* --- the whole -------------------------------------------------------------------------------- */

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
	add_tables(&r);
	add_memory(&r);
	if (r.text.len <= limit) {
		fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
		ret = fd < 0 ? -errno : file_write_all(fd, r.text.buf, r.text.len);
		closep(&fd);
	}
	vec_release(&r.bytes);
	vec_release(&r.rows);
	vec_release(&r.ranges);
	strbuf_release(&r.text);
	return ret;
}

/* --- kinds ------------------------------------------------------------------------------------ */

/* What a callee must keep, besides %rsp. */
static bool is_kept(uint8_t reg)
{
	return reg == ROW_RBX || reg == ROW_RBP || reg == ROW_R13 || reg == ROW_R15;
}

static const char *kind_of_cfa(const struct wire_rule *rule, bool leaf)
{
	if (rule->ra_slot & WIRE_RA_REGISTER)
		return "ra_register";
	if (rule->cfa_reg == ROW_RSP || rule->cfa_reg == ROW_RBP)
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
		const struct wire_range *range = find_range_of(own, address);
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
