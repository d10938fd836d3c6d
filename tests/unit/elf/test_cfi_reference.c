// SPDX-License-Identifier: Apache-2.0
/*
 * Every row of real files against binutils, whose interpreter has nothing to do with libdw:
 * `readelf --debug-dump=frames-interp` prints a table for each FDE.
 */
#include "test.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/macros.h"
#include "elf/cfi/cfi_file.h"

#define MAX_COLUMNS	32
#define MAX_SIGNAL_CIES 8
/* A positive or odd offset, or something else that no slot can express. */
#define NO_SLOT (-1)

struct reference {
	FILE *dump;
	struct cfi_file *file;
	struct cfi_rows rows;
	uint64_t page; /* of the rows; 1: none yet */
	char columns[MAX_COLUMNS][8];
	int column_count;
	uint64_t fde_end;
	size_t compared, kinds[WIRE_RULE_KIND_COUNT];
	size_t expressions; /* places whose CFA the table gives as an expression, without its text */
	uint64_t signal_cies[MAX_SIGNAL_CIES];
	int signal_cie_count;
	bool is_signal; /* the FDE's CIE has 'S' in its augmentation */
	/* The row that was read before this one: its end is this one's start. */
	uint64_t start;
	bool pending;
	char cfa[32], cells[MAX_COLUMNS][16];
};

static const char *const register_names[] = { "rax", "rdx", "rcx", "rbx", "rsi", "rdi",
					      "rbp", "rsp", "r8",  "r9",  "r10", "r11",
					      "r12", "r13", "r14", "r15" };

static int register_number(const char *name, size_t len)
{
	for (int i = 0; i < (int)ARRAY_SIZE(register_names); i++)
		if (strlen(register_names[i]) == len && strncmp(register_names[i], name, len) == 0)
			return i;
	return -1;
}

static const char *cell(const struct reference *r, const char *column)
{
	for (int i = 0; i < r->column_count; i++)
		if (strcmp(r->columns[i], column) == 0)
			return r->cells[i];
	return "u";
}

/* "u" unspecified, "s" the same, "c-16" at CFA - 16. */
static int slot_of(const char *text)
{
	char *end;
	long offset;

	if (strcmp(text, "u") == 0 || strcmp(text, "s") == 0)
		return 0;
	if (text[0] != 'c')
		return NO_SLOT;
	offset = strtol(text + 1, &end, 10);
	return *end == '\0' && offset < 0 && offset % 8 == 0 ? (int)(-offset / 8) : NO_SLOT;
}

static struct wire_rule rule_at(struct reference *r, uint64_t address)
{
	struct wire_rule rule = { .kind = WIRE_RULE_KIND_COUNT };
	uint64_t page = address & ~(uint64_t)(WIRE_PAGE_BYTES - 1);
	struct err err;

	if (page != r->page)
		assert_int_equal(cfi_file_page(r->file, address, &r->rows, &err), 0);
	r->page = page;
	for (size_t i = 0; i < r->rows.v.len; i++)
		if (r->rows.v.items[i].offset <= address - page)
			rule = r->rows.v.items[i].rule;
	return rule;
}

static bool slot_matches(int expected, unsigned int slot, unsigned int lost)
{
	return slot ==
	       (expected == NO_SLOT || expected >= (int)lost ? lost : (unsigned int)expected);
}

static bool slots_match(const struct reference *r, const struct wire_rule *rule)
{
	/* Places given by expressions, which the table does not show. */
	if (rule->home_reg)
		return strcmp(cell(r, "rbp"), "exp") == 0;
	return slot_matches(slot_of(cell(r, "rbx")), rule->rbx_slot, WIRE_SLOT_LOST) &&
	       slot_matches(slot_of(cell(r, "rbp")), rule->rbp_slot, WIRE_RBP_SLOT_LOST) &&
	       slot_matches(slot_of(cell(r, "r13")), rule->r13_slot, WIRE_SLOT_LOST) &&
	       slot_matches(slot_of(cell(r, "r15")), rule->r15_slot, WIRE_SLOT_LOST);
}

/* "rsp+16"; false when it is an expression. */
static bool cfa_matches(const struct reference *r, const struct wire_rule *rule)
{
	size_t len = strcspn(r->cfa, "+-");

	return rule->kind == WIRE_RULE_CFA && rule->cfa_reg == register_number(r->cfa, len) &&
	       rule->cfa_offset == atoi(r->cfa + len);
}

static bool matches(const struct reference *r, const struct wire_rule *rule)
{
	const char *ra = cell(r, "ra");
	int slot = slot_of(ra);

	if (r->is_signal || rule->kind == WIRE_RULE_SIGNAL)
		return r->is_signal && rule->kind == WIRE_RULE_SIGNAL;
	if (strcmp(ra, "u") == 0)
		return rule->kind == WIRE_RULE_END;
	if (strcmp(r->cfa, "exp") == 0)
		return rule->kind == WIRE_RULE_PLT || rule->kind == WIRE_RULE_DEREF ||
		       rule->kind == WIRE_RULE_BAD;
	if (ra[0] == 'r')
		return cfa_matches(r, rule) && slots_match(r, rule) &&
		       rule->ra_slot == (WIRE_RA_REGISTER | atoi(ra + 1));
	if (slot == NO_SLOT)
		return rule->kind == WIRE_RULE_BAD;
	return cfa_matches(r, rule) && slots_match(r, rule) && rule->ra_slot == slot;
}

static void compare(struct reference *r, uint64_t address)
{
	struct wire_rule rule = rule_at(r, address);

	if (!matches(r, &rule))
		fail_msg(
			"at 0x%lx: kind %d r%d%+d ra %d rbx %d rbp %d r13 %d r15 %d, expected %s ra "
			"%s rbx %s rbp %s r13 %s r15 %s",
			(unsigned long)address, rule.kind, rule.cfa_reg, rule.cfa_offset,
			rule.ra_slot, rule.rbx_slot, rule.rbp_slot, rule.r13_slot, rule.r15_slot,
			r->cfa, cell(r, "ra"), cell(r, "rbx"), cell(r, "rbp"), cell(r, "r13"),
			cell(r, "r15"));
	r->compared++;
	r->expressions += strcmp(r->cfa, "exp") == 0;
	r->kinds[rule.kind]++;
}

/* The row that is waiting ends here: look at its first and its last byte. */
static void end_row(struct reference *r, uint64_t end)
{
	if (r->pending && end > r->start) {
		compare(r, r->start);
		compare(r, end - 1);
	}
	r->pending = false;
}

static void read_columns(struct reference *r, char *line)
{
	char *save;

	r->column_count = 0;
	for (char *word = strtok_r(line, " \n", &save); word; word = strtok_r(NULL, " \n", &save)) {
		if (strcmp(word, "LOC") == 0 || strcmp(word, "CFA") == 0)
			continue;
		assert_true(r->column_count < MAX_COLUMNS);
		snprintf(r->columns[r->column_count++], sizeof(r->columns[0]), "%s", word);
	}
}

/* "000000000002c1b0 rsp+8    u     c-16  r9 (r9) c-8" */
static void read_row(struct reference *r, char *line)
{
	char *save, *word = strtok_r(line, " \n", &save);
	uint64_t start = strtoull(word, NULL, 16);
	int at = 0;

	end_row(r, start);
	word = strtok_r(NULL, " \n", &save);
	snprintf(r->cfa, sizeof(r->cfa), "%s", word ? word : "");
	while ((word = strtok_r(NULL, " \n", &save)) && at < r->column_count)
		if (word[0] != '(')
			snprintf(r->cells[at++], sizeof(r->cells[0]), "%s", word);
	r->start = start;
	r->pending = true;
}

/* "00000050 0000000000000014 00000000 CIE "zRS" cf=1 df=-8 ra=16" */
static void read_cie(struct reference *r, const char *line)
{
	const char *augmentation = strchr(line, '"');
	const char *end = augmentation ? strchr(augmentation + 1, '"') : NULL;
	const char *mark = augmentation ? strchr(augmentation + 1, 'S') : NULL;

	if (!mark || !end || mark > end)
		return;
	assert_true(r->signal_cie_count < MAX_SIGNAL_CIES);
	r->signal_cies[r->signal_cie_count++] = strtoull(line, NULL, 16);
}

static bool is_signal_fde(const struct reference *r, const char *line)
{
	const char *cie = strstr(line, " cie=");

	for (int i = 0; cie && i < r->signal_cie_count; i++)
		if (r->signal_cies[i] == strtoull(cie + 5, NULL, 16))
			return true;
	return false;
}

static void read_line(struct reference *r, char *line)
{
	const char *range = strstr(line, " pc=");

	if (range || strstr(line, " CIE ")) {
		end_row(r, r->fde_end);
		r->column_count = 0;
		if (!range)
			read_cie(r, line);
		r->is_signal = range && is_signal_fde(r, line);
		r->fde_end = range ? strtoull(strstr(range, "..") + 2, NULL, 16) : 0;
	} else if (strncmp(line, "   LOC", 6) == 0) {
		read_columns(r, line);
	} else if (r->fde_end && strspn(line, "0123456789abcdef") == 16) {
		read_row(r, line);
	}
}

/* How many rows were compared; skipped where readelf or the file is missing. */
static size_t compare_file(const char *path, struct reference *r)
{
	_cleanup_free_ char *line = NULL;
	char command[256];
	size_t size = 0;
	struct err err;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || system("readelf --version >/dev/null 2>&1") != 0) { /* NOLINT */
		if (fd >= 0)
			close(fd);
		print_message("no %s, or no readelf: not compared\n", path);
		return 0;
	}
	*r = (struct reference){ .page = 1 };
	assert_int_equal(cfi_file_open(fd, &r->file, &err), 0);
	snprintf(command, sizeof(command),
		 "LC_ALL=C readelf --debug-dump=frames-interp %s 2>/dev/null", path);
	r->dump = popen(command, "r"); /* NOLINT */
	assert_non_null(r->dump);
	while (getline(&line, &size, r->dump) > 0)
		read_line(r, line);
	end_row(r, r->fde_end);
	pclose(r->dump);
	cfi_file_close(r->file);
	vec_release(&r->rows.v);
	return r->compared;
}

static void compare_or_skip(const char *path, size_t at_least, struct reference *r)
{
	size_t compared = compare_file(path, r);

	if (compared == 0)
		skip();
	print_message(
		"%s: %zu places equal; of them %zu expressions: %zu of the PLT, %zu loads, %zu "
		"signals, %zu that no row can say\n",
		path, compared, r->expressions, r->kinds[WIRE_RULE_PLT], r->kinds[WIRE_RULE_DEREF],
		r->kinds[WIRE_RULE_SIGNAL], r->kinds[WIRE_RULE_BAD]);
	assert_true(compared >= at_least);
}

static void the_c_library(void **state)
{
	struct reference r;

	(void)state;
	compare_or_skip("/lib/x86_64-linux-gnu/libc.so.6", 20000, &r);
	/* _start of threads, __restore_rt, the PLT, and vfork's return address in a register */
	assert_true(r.kinds[WIRE_RULE_END] >= 2);
	assert_true(r.kinds[WIRE_RULE_SIGNAL] >= 2);
	assert_true(r.kinds[WIRE_RULE_PLT] >= 1);
	assert_true(r.kinds[WIRE_RULE_BAD] <= 2);
}

static void the_dynamic_linker(void **state)
{
	struct reference r;

	(void)state;
	compare_or_skip("/lib64/ld-linux-x86-64.so.2", 1000, &r);
}

static void the_unwinder_of_gcc(void **state)
{
	struct reference r;

	(void)state;
	compare_or_skip("/lib/x86_64-linux-gnu/libgcc_s.so.1", 1000, &r);
}

static void the_cpp_library(void **state)
{
	struct reference r;

	(void)state;
	compare_or_skip("/usr/lib/x86_64-linux-gnu/libstdc++.so.6", 20000, &r);
}

/* Assembly with its CFA on the stack. */
static void openssl(void **state)
{
	struct reference r;

	(void)state;
	compare_or_skip("/usr/lib/x86_64-linux-gnu/libcrypto.so.3", 20000, &r);
	assert_true(r.kinds[WIRE_RULE_DEREF] > 20);
	assert_int_equal(r.kinds[WIRE_RULE_BAD], 0);
}

static void this_test(void **state)
{
	char path[4096];
	struct reference r;
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);

	(void)state;
	assert_true(n > 0);
	path[n] = '\0';
	compare_or_skip(path, 1000, &r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_c_library),
		cmocka_unit_test(the_dynamic_linker),
		cmocka_unit_test(the_unwinder_of_gcc),
		cmocka_unit_test(the_cpp_library),
		cmocka_unit_test(openssl),
		cmocka_unit_test(this_test),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
