/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Command-line options from one table: parsing (getopt_long) and --help come from the same rows.
 * Every command's table ends with OPTION_END. -h/--help is added by the parser.
 */
#ifndef HOSTPROF_BASE_OPTIONS_H
#define HOSTPROF_BASE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

enum option_type {
	OPTION_TYPE_END,
	OPTION_TYPE_FLAG,     /* bool */
	OPTION_TYPE_STRING,   /* const char *, borrowed from argv; last one wins */
	OPTION_TYPE_U64,      /* uint64_t */
	OPTION_TYPE_DURATION, /* uint64_t nanoseconds */
	OPTION_TYPE_BYTES,    /* uint64_t bytes */
	OPTION_TYPE_CALLBACK, /* parse(arg, value, err) */
	OPTION_TYPE_HEADING,  /* a heading in --help, nothing to parse */
};

struct option_row {
	enum option_type type;
	char short_name;       /* 0: none */
	const char *long_name; /* without dashes */
	const char *
		arg; /* placeholder in help, NULL: takes none; "[=WHAT]" of a long one: may be left out */
	const char *help; /* one line or more; wrapped by the printer */
	void *value;	  /* where the result goes */
	int (*parse)(const char *arg, void *value, struct err *err);
};

#define OPTION_END                                               \
	{                                                        \
		OPTION_TYPE_END, 0, NULL, NULL, NULL, NULL, NULL \
	}

struct command_usage {
	const char *name;     /* "record" */
	const char *synopsis; /* "[-a | -p PID,… | -- CMD ARG…] [options]" */
	const char *summary;  /* one sentence */
	const char *epilogue; /* examples, printed as they are; may be NULL */
	const struct option_row *rows;
};

enum { OPTIONS_OK = 0, OPTIONS_HELP_SHOWN = 1 };

/*
 * Parse argv[1..]. Returns OPTIONS_OK with *ret_rest = index of the first operand (after "--"
 * too), OPTIONS_HELP_SHOWN after --help, or -EINVAL with a sentence. *ret_dashdash (may be NULL)
 * says whether operands were introduced by "--". Options may follow operands, except after "--";
 * an operand before "--" is an error. The operands are argv[*ret_rest .. argc - 1].
 */
int options_parse(const struct command_usage *usage, int argc, char **argv, int *ret_rest,
		  bool *ret_dashdash, struct err *err);

void options_print_help(const struct command_usage *usage, FILE *to);

#endif
