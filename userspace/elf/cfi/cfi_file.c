// SPDX-License-Identifier: Apache-2.0
#include "elf/cfi/cfi_file.h"

#include <errno.h>
#include <sys/stat.h>

#include "elf/cfi/cfi_file_private.h"
#include "elf/elf_file_private.h"
#include "elf/go/go_place.h"

/* The longest entry code known (musl's, with what it calls inlined) is shorter. */
#define MAX_ENTRY_BYTES 64
/* The .debug_frame of a Go program of 100 MB has 4. */
#define MAX_DEBUG_FRAME_BYTES (64U << 20)
#define MAX_PROGRAM_HEADERS   4096

static int check_machine(const struct elf_file *elf, struct err *err)
{
	if (elf->header.e_ident[EI_CLASS] != ELFCLASS64 ||
	    elf->header.e_ident[EI_DATA] != ELFDATA2LSB || elf->header.e_machine != EM_X86_64)
		return err_set(err, -EBADMSG, "not an ELF file of this machine");
	return 0;
}

static void take_segments(struct cfi_file *file, struct elf_file *elf)
{
	const struct elf_segment *segments;
	int count = elf_file_segments(elf, &segments);

	for (int i = 0; i < count; i++)
		vec_push(&file->segments, segments[i]);
}

/* --- where its call frame information is ------------------------------------------------------ */

/* The file offset of ADDRESS, and how many bytes of its segment follow. */
static bool address_to_offset(const struct cfi_file *file, uint64_t address, uint64_t *ret_offset,
			      uint64_t *ret_left)
{
	const struct elf_segment *segment = elf_segment_find(
		file->segments.items, file->segments.len, ELF_SEGMENT_ANY, address);

	if (!segment)
		return false;
	*ret_offset = elf_segment_offset(segment, address);
	*ret_left = elf_segment_left(segment, address);
	return true;
}

size_t cfi_read_address(struct cfi_file *file, uint64_t address, void *buf, size_t size)
{
	uint64_t offset, left;

	if (!address_to_offset(file, address, &offset, &left))
		return 0;
	return cfi_reader_copy(&file->reader, offset, buf, MIN(size, left));
}

/* Through the program header, as the loaded program itself finds it. */
static int find_by_header(struct cfi_file *file, struct elf_file *elf)
{
	struct cfi_layer *layer = &file->eh_frame;
	uint64_t address;
	size_t count = 0;
	GElf_Phdr header;

	elf_getphdrnum(elf->elf, &count);
	for (size_t i = 0; i < MIN(count, MAX_PROGRAM_HEADERS); i++) {
		if (!gelf_getphdr(elf->elf, (int)i, &header) || header.p_type != PT_GNU_EH_FRAME)
			continue;
		if (fde_index_read_header(&layer->index, &file->reader, header.p_offset,
					  header.p_vaddr, header.p_filesz, &address) < 0 ||
		    !address_to_offset(file, address, &layer->section.offset,
				       &layer->section.size)) {
			layer->index.table_offset = 0;
			return -EBADMSG;
		}
		layer->section.address = address;
		return 0;
	}
	return -ENODATA;
}

static void find_eh_frame(struct cfi_file *file, struct elf_file *elf)
{
	struct cfi_layer *layer = &file->eh_frame;
	GElf_Shdr header;

	if (find_by_header(file, elf) == 0)
		return;
	if (!elf_file_find_section(elf, ".eh_frame", &header) || header.sh_type == SHT_NOBITS)
		return;
	layer->section.offset = header.sh_offset;
	layer->section.address = header.sh_addr;
	layer->section.size = header.sh_size;
	fde_index_scan(&layer->index);
}

/* Its bytes, decompressed, as our own. */
static bool take_decompressed(struct cfi_file *file, Elf_Scn *section)
{
	GElf_Chdr compression;
	Elf_Data *data;

	if (!gelf_getchdr(section, &compression) || compression.ch_size > MAX_DEBUG_FRAME_BYTES ||
	    elf_compress(section, 0, 0) < 0)
		return false;
	data = elf_rawdata(section, NULL);
	if (!data || !data->d_buf || data->d_size == 0)
		return false;
	file->debug_bytes = xmemdup(data->d_buf, data->d_size);
	file->debug_len = data->d_size;
	cfi_reader_init_memory(&file->debug_reader, file->debug_bytes, file->debug_len);
	return true;
}

static void find_debug_frame(struct cfi_file *file, struct elf_file *elf)
{
	struct cfi_layer *layer = &file->debug_frame;
	GElf_Shdr header;
	Elf_Scn *section = elf_file_find_section(elf, ".debug_frame", &header);

	if (!section || header.sh_type == SHT_NOBITS || header.sh_size > MAX_DEBUG_FRAME_BYTES)
		return;
	layer->section.debug = true;
	layer->section.offset = header.sh_offset;
	layer->section.size = header.sh_size;
	if (header.sh_flags & SHF_COMPRESSED) {
		if (!take_decompressed(file, section))
			return;
		layer->section.reader = &file->debug_reader;
		layer->section.offset = 0;
		layer->section.size = file->debug_len;
	}
	fde_index_scan(&layer->index);
}

static void find_main(struct cfi_file *file, uint64_t entry)
{
	uint8_t code[CFI_MAIN_MAX_BYTES];
	size_t len = cfi_read_address(file, entry, code, MAX_ENTRY_BYTES);
	uint64_t address = cfi_main_address(code, len, entry);

	if (!address || cfi_layer_covers(&file->eh_frame, address))
		return;
	file->main = address;
	len = cfi_read_address(file, address, code, sizeof(code));
	cfi_main_match(code, len, address, &file->rust_main);
}

/* Without an FDE it would look like code of which nothing is known. */
static void add_entry(struct cfi_file *file, struct elf_file *elf)
{
	uint64_t entry = elf->header.e_entry, end = UINT64_MAX;
	struct cfi_layer *layers[] = { &file->eh_frame, &file->debug_frame };

	if (entry == 0)
		return;
	find_main(file, entry);
	for (size_t i = 0; i < ARRAY_SIZE(layers); i++) {
		if (cfi_layer_covers(layers[i], entry))
			return;
		end = MIN(end, cfi_layer_next_start(layers[i], entry));
	}
	cfi_roots_add_entry(&file->roots, &file->reader, elf, entry, end);
}

/* Go's own tables are better than the .debug_frame made of them, and need no memory. */
static void find_go_frames(struct cfi_file *file, struct elf_file *elf)
{
	bool go = cfi_roots_is_go(elf);

	if (go && go_place_open(&file->go, &file->reader, elf) == 0) {
		cfi_gopcln_add_roots(&file->go, &file->roots);
		return;
	}
	find_debug_frame(file, elf);
	if (go) {
		file->debug_frame.go = true;
		cfi_roots_add_go(&file->roots, elf);
	}
}

static void read_elf(struct cfi_file *file, struct elf_file *elf)
{
	elf_file_build_id(elf, file->build_id, sizeof(file->build_id));
	take_segments(file, elf);
	cfi_layer_init(&file->eh_frame, &file->reader);
	cfi_layer_init(&file->debug_frame, &file->reader);
	find_eh_frame(file, elf);
	find_go_frames(file, elf);
	add_entry(file, elf);
	cfi_linkage_find(&file->linkage, elf);
	cfi_crt_find(file, elf);
	/* Of Go everything is known. */
	if (!file->go.reader && !file->debug_frame.go)
		infer_file_open(&file->infer, &file->reader, elf, &file->eh_frame,
				&file->debug_frame, file->main);
}

int cfi_file_open(int fd, struct cfi_file **ret_file, struct err *err)
{
	_cleanup_(cfi_file_closep) struct cfi_file *file = xcalloc(1, sizeof(*file));
	_cleanup_(elf_file_closep) struct elf_file *elf = NULL;
	struct stat st;
	int r;

	file->fd = fd;
	if (fstat(fd, &st) < 0)
		return err_sys(err, -errno, "cannot look at it");
	cfi_reader_init_fd(&file->reader, fd, (uint64_t)st.st_size);
	r = elf_file_open(fd, &elf, err);
	if (r == 0)
		r = check_machine(elf, err);
	if (r < 0)
		return r;
	read_elf(file, elf);
	*ret_file = TAKE_PTR(file);
	return 0;
}

int cfi_file_open_memory(const void *data, size_t len, struct cfi_file **ret_file, struct err *err)
{
	_cleanup_(cfi_file_closep) struct cfi_file *file = xcalloc(1, sizeof(*file));
	_cleanup_(elf_file_closep) struct elf_file *elf = NULL;
	int r;

	file->fd = -1;
	cfi_reader_init_memory(&file->reader, data, len);
	r = elf_file_open_memory(data, len, &elf, err);
	if (r == 0)
		r = check_machine(elf, err);
	if (r < 0)
		return r;
	read_elf(file, elf);
	*ret_file = TAKE_PTR(file);
	return 0;
}

void cfi_file_close(struct cfi_file *file)
{
	if (!file)
		return;
	infer_file_release(&file->infer);
	cfi_layer_release(&file->eh_frame);
	cfi_layer_release(&file->debug_frame);
	cfi_reader_release(&file->reader);
	cfi_reader_release(&file->debug_reader);
	free(file->debug_bytes);
	vec_release(&file->roots.v);
	vec_release(&file->segments);
	vec_release(&file->scratch.v);
	closep(&file->fd);
	free(file);
}

const char *cfi_file_build_id(const struct cfi_file *file)
{
	return file->build_id;
}

/* Mappings are whole pages: what lies before and after the segment in its pages is mapped too. */
static bool segment_holds(const struct elf_segment *segment, uint64_t offset)
{
	const uint64_t page = WIRE_PAGE_BYTES;
	uint64_t end = segment->offset + segment->file_size;

	return (segment->flags & PF_X) && offset >= (segment->offset & ~(page - 1)) &&
	       offset < ((end + page - 1) & ~(page - 1));
}

bool cfi_segments_address(const struct elf_segment *segments, size_t count, uint64_t offset,
			  uint64_t *ret_address)
{
	const struct elf_segment *segment, *found = NULL;

	/* where two share a page, the one that the offset itself is in */
	for (segment = segments; segment < segments + count; segment++)
		if (segment_holds(segment, offset) &&
		    (!found ||
		     (offset >= segment->offset && offset - segment->offset < segment->file_size)))
			found = segment;
	if (!found)
		return false;
	*ret_address = found->address + (offset - found->offset);
	return true;
}

bool cfi_file_address(const struct cfi_file *file, uint64_t offset, uint64_t *ret_address)
{
	return cfi_segments_address(file->segments.items, file->segments.len, offset, ret_address);
}

size_t cfi_file_segments(const struct cfi_file *file, const struct elf_segment **ret_segments)
{
	*ret_segments = file->segments.items;
	return file->segments.len;
}

/*
 * A trampoline ends with its system call, and in rt_sigreturn the thread's pc is behind that: one
 * byte more than the record describes (glibc's, sysdeps/unix/sysv/linux/x86_64/libc_sigaction.c).
 */
static void reach_behind_signals(struct cfi_rows *rows)
{
	for (size_t i = 1; i < rows->v.len; i++) {
		struct cfi_row *row = &rows->v.items[i];
		uint32_t next = i + 1 < rows->v.len ? row[1].offset : WIRE_PAGE_BYTES;

		if (row[-1].rule.kind == WIRE_RULE_SIGNAL && row->rule.kind == WIRE_RULE_NONE &&
		    row->offset + 1U < next)
			row->offset++;
	}
}

/* Where .eh_frame has nothing to say. */
static void fill_gaps(struct cfi_file *file, uint64_t page, struct cfi_rows *rows)
{
	const struct cfi_main *rust_main = &file->rust_main;

	if (file->go.reader) {
		cfi_gopcln_rows(&file->go, page, &file->scratch);
		cfi_rows_fill(rows, &file->scratch);
	} else if (file->debug_frame.index.own.len) {
		cfi_layer_rows(&file->debug_frame, page, &file->scratch);
		cfi_rows_fill(rows, &file->scratch);
	}
	if (rust_main->end > page && rust_main->start < page + WIRE_PAGE_BYTES) {
		cfi_main_rows(rust_main, page, &file->scratch);
		cfi_rows_fill(rows, &file->scratch);
	}
	infer_file_fill(&file->infer, page, rows);
}

int cfi_file_page(struct cfi_file *file, uint64_t address, struct cfi_rows *rows, struct err *err)
{
	uint64_t page = address & ~(uint64_t)(WIRE_PAGE_BYTES - 1);

	cfi_layer_rows(&file->eh_frame, page, rows);
	fill_gaps(file, page, rows);
	cfi_roots_apply(&file->roots, page, rows);
	cfi_linkage_apply(&file->linkage, page, rows);
	reach_behind_signals(rows);
	if (file->reader.error)
		return err_sys(err, file->reader.error, "cannot read its call frame information");
	return 0;
}

struct function_visit {
	bool (*fn)(uint64_t start, uint64_t end, void *data);
	void *data;
};

static bool visit_fde(const struct cfi_fde *fde, uint64_t offset, void *data)
{
	const struct function_visit *visit = data;

	(void)offset;
	return visit->fn(fde->start, fde->end, visit->data);
}

void cfi_file_for_each_function(struct cfi_file *file,
				bool (*fn)(uint64_t start, uint64_t end, void *data), void *data)
{
	struct function_visit visit = { fn, data };

	fde_index_for_each(&file->eh_frame.section, visit_fde, &visit);
	if (!file->go.reader)
		fde_index_for_each(&file->debug_frame.section, visit_fde, &visit);
}

size_t cfi_file_bytes(const struct cfi_file *file)
{
	return sizeof(*file) + infer_file_bytes(&file->infer) + file->reader.window_cap +
	       file->debug_len + cfi_layer_bytes(&file->eh_frame) +
	       cfi_layer_bytes(&file->debug_frame) +
	       file->segments.cap * sizeof(file->segments.items[0]) +
	       file->roots.v.cap * sizeof(file->roots.v.items[0]) +
	       file->scratch.v.cap * sizeof(file->scratch.v.items[0]);
}
