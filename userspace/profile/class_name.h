/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of Java's classes, as people read them ("java.lang.String[]", "byte[]") and as the JVM and
 * class files have them ("[Ljava/lang/String;", "[B"; JVMS 4.2.1 and 4.3.2).
 */
#ifndef HOSTPROF_PROFILE_CLASS_NAME_H
#define HOSTPROF_PROFILE_CLASS_NAME_H

#include "base/strbuf.h"

/* "int" of 'I'; NULL of what is none. */
const char *class_name_of_primitive(char descriptor);

/* Append NAME, which people read, as class files have it. */
void class_name_to_internal(struct strbuf *out, const char *name);

/*
 * Append NAME, which class files have, as people read it. What begins like an array and is none
 * keeps its text, but for '/', which always becomes '.'.
 */
void class_name_from_internal(struct strbuf *out, const char *name);

#endif
