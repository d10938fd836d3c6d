/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The commands: one row each in main.c, one file each here. A command gets its own name as argv[0]
 * and returns an exit code. What several of them need is below.
 */
#ifndef HOSTPROF_CMD_CMD_H
#define HOSTPROF_CMD_CMD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/options.h"
#include "base/strbuf.h"

enum cmd_exit {
	CMD_OK = 0,
	CMD_FAILED = 1,
	CMD_USAGE = 2,
	CMD_FORBIDDEN = 3, /* a permission or a kernel feature is missing */
};

/* Not an exit code: go on. */
#define CMD_CONTINUE (-1)

struct cmd {
	const char *name;
	const char *summary;
	int (*run)(int argc, char **argv);
};

/* All commands, ends with name == NULL. */
extern const struct cmd cmd_table[];

int cmd_record(int argc, char **argv);
int cmd_stream(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_attach(int argc, char **argv);
int cmd_detach(int argc, char **argv);
int cmd_status(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_help(int argc, char **argv);

/* The overview of all commands. */
void cmd_print_overview(FILE *to);

/* Report ERR; the exit code that fits it: CMD_FORBIDDEN for -EPERM and -EOPNOTSUPP. */
int cmd_fail(const struct err *err);

/* Report ERR as a mistake on the command line. */
int cmd_usage_error(const struct err *err);

/* -EINVAL and -ERANGE are such mistakes; what is not there, or not allowed, is none. */
int cmd_fail_argument(const struct err *err);

/*
 * Parse argv. CMD_CONTINUE, or the exit code to return: after --help, or when there is a mistake,
 * also when there are fewer than MIN or more than MAX operands.
 */
int cmd_parse(const struct command_usage *usage, int argc, char **argv, int min, int max,
	      int *ret_rest);

/* "4242" as the pid of a running process, not of one of its threads. */
int cmd_parse_pid(const char *text, uint32_t *ret_pid, struct err *err);

/*
 * Write TEXT to standard output; CMD_OK, or CMD_FAILED with a message. Control characters, which
 * could steer a terminal, become '?'.
 */
int cmd_print(struct strbuf *text);

#endif
