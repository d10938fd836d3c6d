/* SPDX-License-Identifier: Apache-2.0 */
/* The argument of attach, detach and status: the pid of one JVM. */
#ifndef HOSTPROF_CMD_JVM_ARGUMENT_H
#define HOSTPROF_CMD_JVM_ARGUMENT_H

#include "base/options.h"
#include "jvm/jvm_info.h"

/*
 * Parse "PID [options]" by USAGE and read that JVM from outside. CMD_CONTINUE with *ret_info
 * filled, or the exit code, after a failure was told.
 */
int jvm_argument_parse(const struct command_usage *usage, int argc, char **argv,
		       struct jvm_info *ret_info);

#endif
