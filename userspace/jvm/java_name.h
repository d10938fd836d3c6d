/* SPDX-License-Identifier: Apache-2.0 */
/* Names as a JVM has them, appended as Class.getName() and people have them. They are a JVM's words: any bytes. */
#ifndef HOSTPROF_JVM_JAVA_NAME_H
#define HOSTPROF_JVM_JAVA_NAME_H

#include <stddef.h>

#include "base/strbuf.h"

/* Append text with control characters and invalid UTF-8 replaced by '?'. */
void java_name_add_text(struct strbuf *out, const char *text, size_t len);

/*
 * Append COUNT chars of a String, WIDTH bytes each: 1, Latin-1, or 2, UTF-16. As java_name_add_text(); half a pair of
 * surrogates is '?', too.
 */
void java_name_add_chars(struct strbuf *out, const void *chars, size_t width, size_t count);

/*
 * "pkg/Outer$Inner" to "pkg.Outer$Inner". The suffix of a hidden class is set off by a slash as
 * Class.getName() does it: "A.0x00007f" (JVMTI, JDK 15+) and "A+0x00007f" become "A/0x00007f",
 * and "A/1234" (JDK 8 to 14) stays.
 */
void java_name_add_class(struct strbuf *out, const char *name, size_t len);

/*
 * "Ljava/lang/String;" to "java.lang.String", "[[I" to "int[][]" (JVM specification, 4.3.2). What is no
 * such signature stays as it is.
 */
void java_name_add_signature(struct strbuf *out, const char *signature, size_t len);

/*
 * The name of a stub, as one release's JVM and another's have it, and JVMTI and the JVM's own list of them:
 * "Stub Generator dsin_stub" (JDK 26) and "dsin_stub (stub gen)" (27) become "dsin", as in 25, and
 * "I2C/C2I adapters(0xba)@0x7f12" (an event) "I2C/C2I adapters" (the blob).
 */
void java_name_add_stub(struct strbuf *out, const char *name, size_t len);

/* The JVM allows 65,535 bytes: 255 parameters, of names as long as that. */
#define JAVA_MAX_DESCRIPTOR 4096

/*
 * A method's descriptor, "(ILjava/lang/String;)V" (JVM specification, 4.3.3), as it is. Nothing for what is none or is longer than
 * JAVA_MAX_DESCRIPTOR: a part of one would be another method's.
 */
void java_name_add_descriptor(struct strbuf *out, const char *descriptor, size_t len);

/* As a class's Symbol has it: "java/lang/String", of an array the signature. */
void java_name_add_symbol(struct strbuf *out, const char *symbol, size_t len);

#endif
