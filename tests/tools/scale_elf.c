/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: scale_elf DIRECTORY FIRST FILES FUNCTIONS
 * Writes FILES shared objects of FUNCTIONS functions, each with a frame description of its own:
 * what an assembler would make of generated code, but in milliseconds. The layouts are those of
 * the System V gABI, the LSB (.eh_frame, .eh_frame_hdr: Core Specification, "Exception Frames") and DWARF 5 §6.4.
 *
 * A function is called with %edi frames to go and a delay in %esi:
 *	prologue; delay; if (--%edi > 0) call the next; delay; epilogue
 */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "scale_code.h"

#define SECTIONS 6
#define SEGMENTS 4

enum dw_cfa {
	DW_CFA_NOP = 0,
	DW_CFA_DEF_CFA = 0x0c,
	DW_CFA_DEF_CFA_REGISTER = 0x0d,
	DW_CFA_DEF_CFA_OFFSET = 0x0e,
	DW_CFA_ADVANCE = 0x40,
	DW_CFA_OFFSET = 0x80,
};

#define PCREL_SDATA4   0x1b /* DW_EH_PE_pcrel | DW_EH_PE_sdata4 */
#define DATAREL_SDATA4 0x3b
#define UDATA4	       0x03

struct bytes {
	uint8_t *at; /* owned */
	size_t len;
};

struct maker {
	struct scale_file file;
	struct bytes frames, table, text;
	uint64_t frames_at, table_at, text_at; /* addresses */
	uint32_t slot_at;		       /* where in the function we are */
	uint32_t told;			       /* up to where the description has come */
	uint32_t cfa;
	uint32_t *fde_at;
};

static void put(struct bytes *b, const void *data, size_t len)
{
	memcpy(b->at + b->len, data, len);
	b->len += len;
}

static void put_u8(struct bytes *b, uint8_t v)
{
	put(b, &v, 1);
}

static void put_u32(struct bytes *b, uint32_t v)
{
	put(b, &v, 4);
}

static void put_uleb(struct bytes *b, uint32_t v)
{
	for (; v > 0x7f; v >>= 7)
		put_u8(b, 0x80 | (v & 0x7f));
	put_u8(b, v);
}

/* --- code and its description ----------------------------------------------------------------- */

/* Code bytes, given as a string. */
static void code(struct maker *m, const char *bytes, size_t len)
{
	put(&m->text, bytes, len);
	m->slot_at += len;
}

#define CODE(m, text) code(m, text, sizeof(text) - 1)

static void code_u32(struct maker *m, uint32_t v)
{
	put_u32(&m->text, v);
	m->slot_at += 4;
}

/* What comes is true from the present instruction on. */
static void describe(struct maker *m)
{
	if (m->slot_at != m->told)
		put_u8(&m->frames, DW_CFA_ADVANCE | (m->slot_at - m->told));
	m->told = m->slot_at;
}

static void move_cfa(struct maker *m, int bytes)
{
	m->cfa += (uint32_t)bytes;
	describe(m);
	put_u8(&m->frames, DW_CFA_DEF_CFA_OFFSET);
	put_uleb(&m->frames, m->cfa);
}

/* A register was pushed: DWARF's number. */
static void pushed(struct maker *m, uint8_t reg)
{
	move_cfa(m, 8);
	put_u8(&m->frames, DW_CFA_OFFSET | reg);
	put_uleb(&m->frames, m->cfa / 8);
}

static void put_body(struct maker *m, uint32_t function)
{
	int64_t next = scale_next(m->file, function), here;

	CODE(m, "\x89\xf1\xff\xc9\x75\xfc"); /* mov %esi,%ecx; 1: dec %ecx; jnz 1b */
	CODE(m, "\xff\xcf\x7e\x05\xe8");     /* dec %edi; jle after the call; call */
	here = (int64_t)function * SCALE_SLOT + m->slot_at + 4;
	code_u32(m, (uint32_t)(next * SCALE_SLOT - here));
	CODE(m, "\x89\xf1\xff\xc9\x75\xfc");
}

static void put_rbx(struct maker *m, uint32_t function, uint8_t locals)
{
	CODE(m, "\x53"); /* push %rbx */
	pushed(m, 3);
	CODE(m, "\x48\x83\xec"); /* sub $locals,%rsp */
	code(m, (const char *)&locals, 1);
	move_cfa(m, locals);
	put_body(m, function);
	CODE(m, "\x48\x83\xc4"); /* add */
	code(m, (const char *)&locals, 1);
	move_cfa(m, -locals);
	CODE(m, "\x5b"); /* pop %rbx */
	move_cfa(m, -8);
}

static void put_fp(struct maker *m, uint32_t function, uint8_t locals)
{
	CODE(m, "\x55"); /* push %rbp */
	pushed(m, 6);
	CODE(m, "\x48\x89\xe5"); /* mov %rsp,%rbp */
	describe(m);
	put_u8(&m->frames, DW_CFA_DEF_CFA_REGISTER);
	put_uleb(&m->frames, 6);
	CODE(m, "\x48\x83\xec");
	code(m, (const char *)&locals, 1);
	put_body(m, function);
	CODE(m, "\xc9"); /* leave */
	describe(m);
	m->cfa = 8;
	put_u8(&m->frames, DW_CFA_DEF_CFA);
	put_uleb(&m->frames, 7);
	put_uleb(&m->frames, 8);
}

static void put_bare(struct maker *m, uint32_t function, uint32_t locals)
{
	CODE(m, "\x48\x81\xec");
	code_u32(m, locals);
	move_cfa(m, (int)locals);
	put_body(m, function);
	CODE(m, "\x48\x81\xc4");
	code_u32(m, locals);
	move_cfa(m, -(int)locals);
}

static void put_uses_fp(struct maker *m, uint32_t function, uint8_t locals)
{
	CODE(m, "\x55");
	pushed(m, 6);
	CODE(m, "\x41\x57"); /* push %r15 */
	pushed(m, 15);
	CODE(m, "\xbd"); /* mov $number,%ebp */
	code_u32(m, scale_mix(function, 99));
	CODE(m, "\x48\x83\xec");
	code(m, (const char *)&locals, 1);
	move_cfa(m, locals);
	put_body(m, function);
	CODE(m, "\x48\x83\xc4");
	code(m, (const char *)&locals, 1);
	move_cfa(m, -locals);
	CODE(m, "\x41\x5f");
	move_cfa(m, -8);
	CODE(m, "\x5d");
	move_cfa(m, -8);
}

static void put_code(struct maker *m, uint32_t function)
{
	uint32_t locals = scale_locals(m->file, function);

	switch (scale_kind_of(m->file, function)) {
	case SCALE_RBX: put_rbx(m, function, locals); break;
	case SCALE_FP: put_fp(m, function, locals); break;
	case SCALE_BARE: put_bare(m, function, 8 * locals); break;
	default: put_uses_fp(m, function, locals); break;
	}
	CODE(m, "\xc3");
}

static void put_function(struct maker *m, uint32_t function)
{
	size_t begin = m->frames.len, range_at;
	uint32_t len;

	m->fde_at[function] = (uint32_t)begin;
	put_u32(&m->frames, 0);
	put_u32(&m->frames, (uint32_t)m->frames.len); /* back to the CIE at 0 */
	put_u32(&m->frames, (uint32_t)(m->text_at + (uint64_t)function * SCALE_SLOT -
				       (m->frames_at + m->frames.len)));
	range_at = m->frames.len;
	put_u32(&m->frames, 0);
	put_u8(&m->frames, 0); /* no augmentation data */
	m->slot_at = m->told = 0;
	m->cfa = 8;
	put_code(m, function);
	memcpy(m->frames.at + range_at, &m->slot_at, 4);
	memset(m->text.at + m->text.len, 0xcc, SCALE_SLOT - m->slot_at);
	m->text.len += SCALE_SLOT - m->slot_at;
	while ((m->frames.len - begin) % 4)
		put_u8(&m->frames, DW_CFA_NOP);
	len = (uint32_t)(m->frames.len - begin - 4);
	memcpy(m->frames.at + begin, &len, 4);
}

static void put_cie(struct maker *m)
{
	static const uint8_t cie[] = {
		20,
		0,
		0,
		0,
		0,
		0,
		0,
		0,
		1,
		'z',
		'R',
		0, /* version, augmentation */
		1,
		0x78,
		16,
		1,
		PCREL_SDATA4, /* align 1, -8; return address 16 */
		DW_CFA_DEF_CFA,
		7,
		8,
		DW_CFA_OFFSET | 16,
		1,
		0,
		0,
	};
	_Static_assert(sizeof(cie) == 24, "CIE");

	put(&m->frames, cie, sizeof(cie));
}

static void put_table(struct maker *m)
{
	static const uint8_t head[] = { 1, PCREL_SDATA4, UDATA4, DATAREL_SDATA4 };

	put(&m->table, head, sizeof(head));
	put_u32(&m->table, (uint32_t)(m->frames_at - (m->table_at + 4)));
	put_u32(&m->table, m->file.count);
	for (uint32_t i = 0; i < m->file.count; i++) {
		put_u32(&m->table, (uint32_t)(m->text_at + (uint64_t)i * SCALE_SLOT - m->table_at));
		put_u32(&m->table, (uint32_t)(m->frames_at + m->fde_at[i] - m->table_at));
	}
}

/* --- the file --------------------------------------------------------------------------------- */

struct build_id {
	Elf64_Nhdr head;
	char name[4];
	uint8_t id[20];
};

/* All that comes before the tables. */
struct head {
	Elf64_Ehdr elf;
	Elf64_Phdr segments[SEGMENTS];
	struct build_id note;
	char pad[4];
	Elf64_Shdr sections[SECTIONS];
	char names[64];
};

static const char section_names[] =
	"\0.note.gnu.build-id\0.eh_frame_hdr\0.eh_frame\0.text\0.shstrtab";

static uint32_t section_name(const char *name)
{
	uint32_t at = 1;

	while (strcmp(section_names + at, name))
		at += (uint32_t)strlen(section_names + at) + 1;
	return at;
}

static void set_section(Elf64_Shdr *s, const char *name, uint32_t type, uint64_t flags,
			uint64_t address, uint64_t offset, uint64_t len)
{
	uint64_t align = type == SHT_NOTE ? 4 : 8;

	*s = (Elf64_Shdr){ section_name(name), type, flags, address, offset, len, 0, 0, align, 0 };
}

static void set_segment(Elf64_Phdr *p, uint32_t type, uint32_t flags, uint64_t offset,
			uint64_t address, uint64_t len)
{
	uint64_t align = type == PT_LOAD ? SCALE_CODE_PAGE : 4;

	*p = (Elf64_Phdr){ type, flags, offset, address, address, len, len, align };
}

static void set_build_id(struct build_id *note, struct scale_file f)
{
	note->head = (Elf64_Nhdr){ 4, sizeof(note->id), NT_GNU_BUILD_ID };
	memcpy(note->name, "GNU", 4);
	for (uint32_t i = 0; i < sizeof(note->id); i++)
		note->id[i] = (uint8_t)scale_mix(f.number * 32 + i, f.count);
}

static void set_head(struct head *h, const struct maker *m)
{
	uint64_t text_offset = scale_text_offset(m->file);
	uint64_t read_only = m->frames_at + m->frames.len, note = offsetof(struct head, note);
	uint64_t names = offsetof(struct head, names);

	memcpy(h->elf.e_ident, ELFMAG "\2\1\1", 7);
	h->elf.e_type = ET_DYN;
	h->elf.e_machine = EM_X86_64;
	h->elf.e_version = EV_CURRENT;
	h->elf.e_phoff = offsetof(struct head, segments);
	h->elf.e_shoff = offsetof(struct head, sections);
	h->elf.e_ehsize = sizeof(Elf64_Ehdr);
	h->elf.e_phentsize = sizeof(Elf64_Phdr);
	h->elf.e_phnum = SEGMENTS;
	h->elf.e_shentsize = sizeof(Elf64_Shdr);
	h->elf.e_shnum = SECTIONS;
	h->elf.e_shstrndx = SECTIONS - 1;
	set_build_id(&h->note, m->file);
	set_segment(&h->segments[0], PT_LOAD, PF_R, 0, 0, read_only);
	set_segment(&h->segments[1], PT_LOAD, PF_R | PF_X, text_offset, m->text_at, m->text.len);
	set_segment(&h->segments[2], PT_NOTE, PF_R, note, note, sizeof(h->note));
	set_segment(&h->segments[3], PT_GNU_EH_FRAME, PF_R, m->table_at, m->table_at, m->table.len);
	memcpy(h->names, section_names, sizeof(section_names));
	set_section(&h->sections[1], ".note.gnu.build-id", SHT_NOTE, SHF_ALLOC, note, note,
		    sizeof(h->note));
	set_section(&h->sections[2], ".eh_frame_hdr", SHT_PROGBITS, SHF_ALLOC, m->table_at,
		    m->table_at, m->table.len);
	set_section(&h->sections[3], ".eh_frame", SHT_PROGBITS, SHF_ALLOC, m->frames_at,
		    m->frames_at, m->frames.len);
	set_section(&h->sections[4], ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, m->text_at,
		    text_offset, m->text.len);
	set_section(&h->sections[5], ".shstrtab", SHT_STRTAB, 0, 0, names, sizeof(section_names));
}

static uint64_t round_up(uint64_t value, uint64_t to)
{
	return (value + to - 1) / to * to;
}

static bool put_at(FILE *out, uint64_t offset, const void *data, size_t len)
{
	return !fseek(out, (long)offset, SEEK_SET) && fwrite(data, 1, len, out) == len;
}

static bool write_file(const struct maker *m, const char *directory)
{
	struct head head = {};
	char path[4096];
	FILE *out;
	bool good;

	snprintf(path, sizeof(path), "%s/g%04u-%u.elf", directory, m->file.number, m->file.count);
	out = fopen(path, "wbe");
	if (!out)
		return false;
	set_head(&head, m);
	good = put_at(out, 0, &head, sizeof(head)) &&
	       put_at(out, m->table_at, m->table.at, m->table.len) &&
	       put_at(out, m->frames_at, m->frames.at, m->frames.len) &&
	       put_at(out, scale_text_offset(m->file), m->text.at, m->text.len);
	return !fclose(out) && good;
}

static bool make_file(struct maker *m, const char *directory)
{
	m->frames.len = m->table.len = m->text.len = 0;
	m->table_at = round_up(sizeof(struct head), 8);
	m->frames_at = round_up(m->table_at + 12 + (uint64_t)m->file.count * SCALE_ENTRY, 8);
	m->text_at = scale_text_address(m->file);
	put_cie(m);
	for (uint32_t i = 0; i < m->file.count; i++)
		put_function(m, i);
	put_u32(&m->frames, 0);
	put_table(m);
	return m->frames_at + m->frames.len <= scale_text_offset(m->file) &&
	       write_file(m, directory);
}

int main(int argc, char **argv)
{
	struct maker m = {};
	uint32_t first, files;

	if (argc != 5)
		return fprintf(stderr, "usage: scale_elf DIRECTORY FIRST FILES FUNCTIONS\n"), 2;
	first = (uint32_t)atoi(argv[2]);
	files = (uint32_t)atoi(argv[3]);
	m.file.count = (uint32_t)atoi(argv[4]);
	if (!m.file.count || m.file.count > SCALE_MAX_FDES)
		return fprintf(stderr, "scale_elf: 1 to %d functions\n", SCALE_MAX_FDES), 2;
	m.frames.at = xcalloc(m.file.count + 1, 2 * SCALE_FDE);
	m.table.at = xcalloc(m.file.count + 2, SCALE_ENTRY);
	m.text.at = xcalloc(m.file.count, SCALE_SLOT);
	m.fde_at = xcalloc(m.file.count, sizeof(*m.fde_at));
	for (m.file.number = first; m.file.number < first + files; m.file.number++)
		if (!make_file(&m, argv[1]))
			return perror(argv[1]), 1;
	free(m.frames.at);
	free(m.table.at);
	free(m.text.at);
	free(m.fde_at);
	return 0;
}
