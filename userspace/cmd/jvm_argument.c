/* SPDX-License-Identifier: Apache-2.0 */
#include "cmd/jvm_argument.h"

#include "cmd/cmd.h"

int jvm_argument_parse(const struct command_usage *usage, int argc, char **argv,
		       struct jvm_info *ret_info)
{
	struct err err = { 0 };
	uint32_t pid;
	int rest, rc = cmd_parse(usage, argc, argv, 1, 1, &rest);

	if (rc != CMD_CONTINUE)
		return rc;
	if (cmd_parse_pid(argv[rest], &pid, &err) < 0)
		return cmd_fail_argument(&err);
	return jvm_info_read(pid, ret_info, &err) < 0 ? cmd_fail(&err) : CMD_CONTINUE;
}
