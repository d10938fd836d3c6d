/* SPDX-License-Identifier: Apache-2.0 */
/* What a JVM was started to run: its main class or jar. */
#ifndef HOSTPROF_JVM_JAVA_COMMAND_H
#define HOSTPROF_JVM_JAVA_COMMAND_H

#include <stddef.h>
#include <stdint.h>

#include "jvm/layout/vmstructs.h"

/*
 * The main class ("pkg.Main"), jar ("/opt/app.jar"), module ("module/pkg.Main") or source file of a
 * java launcher's arguments (each ended by NUL; the first is the program). -ENODATA when there is
 * none or when an @file hides it. Source: src/java.base/share/native/libjli/java.c
 * ParseArguments(), IsWhiteSpaceOption(), JDK 8 to 25.
 */
int java_command_parse(const char *args, size_t len, char *ret_main, size_t size);

/*
 * The same of a process; VS (may be NULL) adds what the JVM itself knows (sun.java.command), which
 * is right for other launchers and @files too. A jar goes without its directory. "" unknown.
 */
void java_command_main_class(uint32_t pid, const struct vmstructs *vs, char *ret_main, size_t size);

#endif
