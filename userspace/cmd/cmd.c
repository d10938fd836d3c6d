/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/cmd.h"

#include <errno.h>
#include <string.h>

#include "base/file.h"
#include "base/log.h"
#include "base/units.h"

int cmd_fail(const struct err *err)
{
	log_err(err);
	return err->code == -EPERM || err->code == -EOPNOTSUPP ? CMD_FORBIDDEN : CMD_FAILED;
}

int cmd_usage_error(const struct err *err)
{
	log_err(err);
	return CMD_USAGE;
}

int cmd_fail_argument(const struct err *err)
{
	return err->code == -EINVAL || err->code == -ERANGE ? cmd_usage_error(err) : cmd_fail(err);
}

static int check_operands(const struct command_usage *usage, int count, int min, int max,
			  char **operands, struct err *err)
{
	if (count < min)
		err_set(err, -EINVAL, "%s: something is missing", usage->name);
	else if (max >= 0 && count > max)
		err_set(err, -EINVAL, "%s: unexpected '%s'", usage->name, operands[max]);
	else
		return 0;
	return err_hint(err, "usage: hostprof %s %s", usage->name, usage->synopsis);
}

int cmd_parse(const struct command_usage *usage, int argc, char **argv, int min, int max,
	      int *ret_rest)
{
	struct err err = { 0 };
	int rc = options_parse(usage, argc, argv, ret_rest, NULL, &err);

	if (rc == OPTIONS_HELP_SHOWN)
		return CMD_OK;
	if (!rc)
		rc = check_operands(usage, argc - *ret_rest, min, max, argv + *ret_rest, &err);
	return rc < 0 ? cmd_usage_error(&err) : CMD_CONTINUE;
}

/* The Tgid line of /proc/PID/status: a thread's id is a name in /proc too. */
static int read_tgid(uint64_t pid, uint64_t *ret_tgid)
{
	_cleanup_strbuf_ struct strbuf text = STRBUF_INIT;
	char path[48];
	const char *line;
	int rc;

	snprintf(path, sizeof(path), "/proc/%llu/status", (unsigned long long)pid);
	rc = file_read(path, 65536, &text);
	if (rc < 0)
		return rc;
	line = strstr(strbuf_str(&text), "\nTgid:\t");
	if (!line)
		return -EBADMSG;
	*ret_tgid = strtoull(line + strlen("\nTgid:\t"), NULL, 10);
	return 0;
}

int cmd_parse_pid(const char *text, uint32_t *ret_pid, struct err *err)
{
	uint64_t pid, tgid;

	if (units_parse_u64(text, &pid) < 0 || !pid || pid > INT32_MAX)
		return err_set(err, -EINVAL, "'%s' is not a pid", text);
	if (read_tgid(pid, &tgid) < 0)
		return err_set(err, -ESRCH, "there is no process %s", text);
	if (tgid != pid) {
		err_set(err, -ESRCH, "%s is a thread of process %llu", text,
			(unsigned long long)tgid);
		return err_hint(err, "give the process's pid, %llu", (unsigned long long)tgid);
	}
	*ret_pid = (uint32_t)pid;
	return 0;
}

int cmd_print(struct strbuf *text)
{
	struct err err;
	int rc;

	strbuf_disarm(text, 0);
	rc = file_write_all(STDOUT_FILENO, strbuf_str(text), text->len);
	if (!rc)
		return CMD_OK;
	err_sys(&err, rc, "cannot write standard output");
	log_err(&err);
	return CMD_FAILED;
}
