/* SPDX-License-Identifier: Apache-2.0 */
#include "base/options.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>

#include "base/strbuf.h"
#include "base/units.h"
#include "base/vec.h"

/* getopt_long() returns this plus the row; above every character. */
#define ROW_BASE 256

struct getopt_tables {
	struct strbuf shorts;
	VEC(struct option) longs;
};

static void tables_release(struct getopt_tables *tables)
{
	strbuf_release(&tables->shorts);
	vec_release(&tables->longs);
}

static int argument_of(const struct option_row *row)
{
	if (!row->arg)
		return no_argument;
	return *row->arg == '[' ? optional_argument : required_argument;
}

/* "-": operands come in order, as code 1. ":": a missing argument is told from a bad option. */
static void tables_build(const struct option_row *rows, struct getopt_tables *tables)
{
	struct option help = { "help", no_argument, NULL, 'h' };
	struct option end = { NULL, 0, NULL, 0 };

	strbuf_addstr(&tables->shorts, "-:h");
	vec_push(&tables->longs, help);
	for (int i = 0; rows[i].type != OPTION_TYPE_END; i++) {
		struct option row = { rows[i].long_name, argument_of(&rows[i]), NULL,
				      ROW_BASE + i };

		if (rows[i].type == OPTION_TYPE_HEADING)
			continue;
		if (rows[i].short_name)
			strbuf_addf(&tables->shorts, "%c%s", rows[i].short_name,
				    rows[i].arg ? ":" : "");
		if (rows[i].long_name)
			vec_push(&tables->longs, row);
	}
	vec_push(&tables->longs, end);
}

static const struct option_row *find_row(const struct option_row *rows, int code)
{
	if (code >= ROW_BASE)
		return &rows[code - ROW_BASE];
	for (; rows->type != OPTION_TYPE_END; rows++)
		if (rows->type != OPTION_TYPE_HEADING && rows->short_name == code)
			return rows;
	return NULL;
}

static int bad_value(const struct option_row *row, const char *arg, const char *wanted, int code,
		     struct err *err)
{
	const char *why = code == -ERANGE ? "is too large" : wanted;

	if (row->long_name)
		return err_set(err, -EINVAL, "--%s: '%s' %s", row->long_name, arg, why);
	return err_set(err, -EINVAL, "-%c: '%s' %s", row->short_name, arg, why);
}

static int store_value(const struct option_row *row, const char *arg, struct err *err)
{
	uint64_t value = 0;
	int rc = 0;

	switch (row->type) {
	case OPTION_TYPE_FLAG: *(bool *)row->value = true; return 0;
	case OPTION_TYPE_STRING: *(const char **)row->value = arg; return 0;
	case OPTION_TYPE_CALLBACK: return row->parse(arg, row->value, err);
	case OPTION_TYPE_U64:
		rc = units_parse_u64(arg, &value);
		if (rc)
			return bad_value(row, arg, "is not a number", rc, err);
		break;
	case OPTION_TYPE_DURATION:
		rc = units_parse_duration(arg, &value);
		if (rc)
			return bad_value(row, arg, "is not a duration such as 30s or 10ms", rc,
					 err);
		break;
	case OPTION_TYPE_BYTES:
		rc = units_parse_bytes(arg, &value);
		if (rc)
			return bad_value(row, arg, "is not a size such as 512k or 64M", rc, err);
		break;
	case OPTION_TYPE_END:
	case OPTION_TYPE_HEADING: return 0;
	}
	*(uint64_t *)row->value = value;
	return 0;
}

/* What getopt_long() could not take; it leaves a long option's text in argv[optind - 1]. */
static int bad_option(const struct command_usage *usage, int code, char **argv, struct err *err)
{
	const struct option_row *row = optopt ? find_row(usage->rows, optopt) : NULL;
	const char *text = argv[optind - 1];

	if (code == ':')
		err_set(err, -EINVAL, "option '%s' needs a value", text);
	else if (row && row->long_name && optopt >= ROW_BASE)
		err_set(err, -EINVAL, "option '--%s' takes no value", row->long_name);
	else if (optopt && optopt < ROW_BASE)
		err_set(err, -EINVAL, "unknown option '-%c'", optopt);
	else
		err_set(err, -EINVAL, "unknown option '%s'", text);
	return err_hint(err, "hostprof %s --help lists the options", usage->name);
}

struct operands {
	VEC(char *) before; /* operands met so far, borrowed from argv */
	bool dashdash;
};

static int parse_loop(const struct command_usage *usage, const struct getopt_tables *tables,
		      int argc, char **argv, struct operands *operands, struct err *err)
{
	for (;;) {
		int at = optind ? optind : 1; /* 0 makes getopt begin anew */
		int code = getopt_long(argc, argv, tables->shorts.buf, tables->longs.items, NULL);
		const struct option_row *row;
		int rc;

		if (code == -1) {
			operands->dashdash = optind > at && !strcmp(argv[at], "--");
			return OPTIONS_OK;
		}
		if (code == 1) {
			vec_push(&operands->before, optarg);
			continue;
		}
		if (code == 'h') {
			options_print_help(usage, stdout);
			return OPTIONS_HELP_SHOWN;
		}
		row = code == '?' || code == ':' ? NULL : find_row(usage->rows, code);
		if (!row)
			return bad_option(usage, code, argv, err);
		rc = store_value(row, optarg, err);
		if (rc)
			return rc;
	}
}

/* Operands are put in front of what "--" introduced, into slots that options have left. */
static int collect_operands(const struct command_usage *usage, char **argv,
			    const struct operands *operands, int *ret_rest, struct err *err)
{
	int n = (int)operands->before.len;

	if (n && operands->dashdash) {
		err_set(err, -EINVAL, "unexpected '%s' before '--'", operands->before.items[0]);
		return err_hint(err, "hostprof %s --help shows what it takes", usage->name);
	}
	for (int i = 0; i < n; i++)
		argv[optind - n + i] = operands->before.items[i];
	*ret_rest = optind - n;
	return OPTIONS_OK;
}

int options_parse(const struct command_usage *usage, int argc, char **argv, int *ret_rest,
		  bool *ret_dashdash, struct err *err)
{
	_cleanup_(tables_release) struct getopt_tables tables = { STRBUF_INIT, VEC_INIT };
	struct operands operands = { VEC_INIT, false };
	int rc;

	tables_build(usage->rows, &tables);
	optind = 0;
	opterr = 0;
	rc = parse_loop(usage, &tables, argc, argv, &operands, err);
	if (rc == OPTIONS_OK)
		rc = collect_operands(usage, argv, &operands, ret_rest, err);
	if (rc == OPTIONS_OK && ret_dashdash)
		*ret_dashdash = operands.dashdash;
	vec_release(&operands.before);
	return rc;
}

#define HELP_COLUMN 26
#define HELP_WIDTH  80

/* Characters, not bytes: "PID,…" is five wide. */
static int text_width(const char *s, size_t len)
{
	int width = 0;

	for (size_t i = 0; i < len; i++)
		width += (s[i] & 0xc0) != 0x80;
	return width;
}

static void print_spaces(FILE *to, int n)
{
	fprintf(to, "%*s", MAX(n, 0), "");
}

/* TEXT from column AT on, its further lines from column INDENT; a newline in it is kept. */
static void print_wrapped(FILE *to, const char *text, int indent, int at)
{
	print_spaces(to, indent - at);
	at = indent;
	while (*text) {
		size_t len = strcspn(text, " \n");
		int width = text_width(text, len);

		if (at > indent && at + 1 + width > HELP_WIDTH) {
			fputc('\n', to);
			print_spaces(to, indent);
			at = indent;
		} else if (at > indent) {
			fputc(' ', to);
			at++;
		}
		fwrite(text, 1, len, to);
		at += width;
		text += len;
		if (*text == '\n') {
			fputc('\n', to);
			print_spaces(to, indent);
			at = indent;
		}
		text += *text != '\0';
	}
	fputc('\n', to);
}

static void print_row(FILE *to, const struct option_row *row)
{
	_cleanup_strbuf_ struct strbuf left = STRBUF_INIT;
	int width;

	if (row->type == OPTION_TYPE_HEADING) {
		fprintf(to, "\n%s:\n", row->help);
		return;
	}
	strbuf_addstr(&left, "  ");
	if (row->short_name)
		strbuf_addf(&left, "-%c", row->short_name);
	if (row->long_name)
		strbuf_addf(&left, "%s--%s", row->short_name ? ", " : "    ", row->long_name);
	if (row->arg)
		strbuf_addf(&left, "%s%s", *row->arg == '[' ? "" : " ", row->arg);
	width = text_width(left.buf, left.len);
	fputs(left.buf, to);
	if (width >= HELP_COLUMN - 1) {
		fputc('\n', to);
		width = 0;
	}
	print_wrapped(to, row->help, HELP_COLUMN, width);
}

void options_print_help(const struct command_usage *usage, FILE *to)
{
	static const struct option_row help = { .short_name = 'h',
						.long_name = "help",
						.help = "show this help",
						.type = OPTION_TYPE_FLAG };
	const struct option_row *row = usage->rows;

	fprintf(to, "usage: hostprof %s%s%s\n\n", usage->name, usage->synopsis[0] ? " " : "",
		usage->synopsis);
	print_wrapped(to, usage->summary, 0, 0);
	if (row->type != OPTION_TYPE_HEADING)
		fputs("\nOptions:\n", to);
	for (; row->type != OPTION_TYPE_END; row++)
		print_row(to, row);
	print_row(to, &help);
	if (usage->epilogue)
		fprintf(to, "\n%s", usage->epilogue);
}
