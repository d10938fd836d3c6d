/* SPDX-License-Identifier: Apache-2.0 */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "base/strbuf.h"
#include "profile/frame_kind.h"

static void check_name(const struct profile *p, const struct profile_frame *f,
		       struct frame_name_options options, const char *expected)
{
	_cleanup_strbuf_ struct strbuf sb = STRBUF_INIT;

	strbuf_addstr(&sb, "x;");
	frame_format_name(&sb, p, f, &options);
	assert_string_equal(strbuf_str(&sb) + 2, expected);
}

static void test_table_is_whole(void **state)
{
	(void)state;
	for (int kind = 0; kind < FRAME_KIND_COUNT; kind++) {
		const struct frame_kind_info *info = frame_kind_info((enum frame_kind)kind);

		assert_non_null(info->id);
		assert_non_null(info->title);
		assert_non_null(info->suffix);
		assert_int_equal(strlen(info->color), 7);
		assert_int_equal(strlen(info->color_dark), 7);
		for (int other = 0; other < kind; other++)
			assert_string_not_equal(info->id,
						frame_kind_info((enum frame_kind)other)->id);
	}
	assert_string_equal(frame_kind_info(FRAME_KERNEL)->color, "#e17d00");
}

static void test_from_jfr(void **state)
{
	enum frame_kind kind = FRAME_KIND_COUNT;

	(void)state;
	assert_int_equal(frame_kind_from_jfr("Inlined", &kind), 0);
	assert_int_equal(kind, FRAME_JAVA_INLINED);
	assert_int_equal(frame_kind_from_jfr("Native", &kind), 0);
	assert_int_equal(kind, FRAME_NATIVE);
	assert_int_equal(frame_kind_from_jfr("JIT compiled", &kind), 0);
	assert_int_equal(kind, FRAME_JAVA_JIT);
	assert_int_equal(frame_kind_from_jfr("C1 compiled", &kind), 0);
	assert_int_equal(kind, FRAME_JAVA_C1);
	assert_int_equal(frame_kind_from_jfr("Cobol", &kind), -ENODATA);
	assert_int_equal(kind, FRAME_JAVA_C1);
}

static void test_java_names(void **state)
{
	struct profile p;
	struct profile_frame f = {
		.mapping = PROFILE_NONE, .line = 12, .bci = 5, .kind = FRAME_JAVA_JIT
	};

	(void)state;
	profile_init(&p);
	f.class_name = profile_string(&p, "java.lang.Thread");
	f.name = profile_string(&p, "run");
	check_name(&p, &f, (struct frame_name_options){ 0 }, "java.lang.Thread.run");
	check_name(&p, &f, (struct frame_name_options){ .lines = true }, "java.lang.Thread.run:12");
	check_name(&p, &f, (struct frame_name_options){ .lines = true, .annotate = true },
		   "java.lang.Thread.run:12_[j]");
	f.line = 0;
	f.kind = FRAME_JAVA_INTERPRETED;
	check_name(&p, &f, (struct frame_name_options){ .lines = true, .annotate = true },
		   "java.lang.Thread.run_[0]");
	f.name = 0;
	f.kind = FRAME_CLASS;
	check_name(&p, &f, (struct frame_name_options){ .lines = true }, "java.lang.Thread");
	profile_release(&p);
}

/* Bits of enum frame_names; what they do not speak of stays. */
static void test_names(void **state)
{
	const struct frame_name_options plain = { 0 }, simple = { .names = FRAME_NAMES_SIMPLE },
					exact = { .names = FRAME_NAMES_EXACT },
					file = { .names = FRAME_NAMES_FILE },
					both = { .names = FRAME_NAMES_SIMPLE | FRAME_NAMES_EXACT };
	struct profile_mapping libc = { 0 };
	struct profile_frame f = { .mapping = PROFILE_NONE, .kind = FRAME_JAVA_JIT };
	struct profile p;

	(void)state;
	profile_init(&p);
	f.class_name = profile_string(&p, "com.acme.Shop$$Lambda$14/0x0000a1");
	f.name = profile_string(&p, "run");
	check_name(&p, &f, plain, "com.acme.Shop$$Lambda.run");
	check_name(&p, &f, simple, "Shop$$Lambda.run");
	check_name(&p, &f, exact, "com.acme.Shop$$Lambda$14/0x0000a1.run");
	check_name(&p, &f, both, "Shop$$Lambda$14/0x0000a1.run");
	check_name(&p, &f, file, "com.acme.Shop$$Lambda.run");
	f.class_name = 0;
	f.kind = FRAME_NATIVE;
	libc.path = profile_string(&p, "/usr/lib/libc.so.6");
	f.mapping = profile_mapping(&p, &libc);
	f.name = profile_string(&p, "std.read");
	check_name(&p, &f, both, "std.read");
	check_name(&p, &f, file, "libc.so.6`std.read");
	f.kind = FRAME_KERNEL;
	check_name(&p, &f, file, "std.read");
	f.kind = FRAME_NATIVE;
	f.name = 0;
	f.address = 0x12;
	check_name(&p, &f, file, "[libc.so.6+0x12]");
	profile_release(&p);
}

/* What the JVM makes as it runs, JDK 8 to 28, has no number; all else stays as it is. */
static void test_normal_names(void **state)
{
	static const char *const classes[][2] = {
		{ "pkg.A$$Lambda/0x00007f1c2c0a1b00", "pkg.A$$Lambda" },
		{ "pkg.A$$Lambda$14/0x0000000800c03000", "pkg.A$$Lambda" },
		{ "pkg.A$$Lambda$14/1073502961", "pkg.A$$Lambda" },
		{ "pkg.A$$Lambda$14", "pkg.A$$Lambda" },
		{ "pkg.A$$Lambda/0x12[][]", "pkg.A$$Lambda[][]" },
		{ "java.lang.invoke.LambdaForm$MH/0x000000080", "java.lang.invoke.LambdaForm$MH" },
		{ "java.lang.invoke.LambdaForm$DMH/1", "java.lang.invoke.LambdaForm$DMH" },
		{ "pkg.Epoch_7+0x00007f", "pkg.Epoch_7" },
		{ "jdk.internal.reflect.GeneratedMethodAccessor12",
		  "jdk.internal.reflect.GeneratedMethodAccessor" },
		{ "sun.reflect.GeneratedSerializationConstructorAccessor1",
		  "sun.reflect.GeneratedSerializationConstructorAccessor" },
		{ "pkg.A$1", "pkg.A$1" },
		{ "pkg.A/x.y", "pkg.A/x.y" },
		{ "pkg.A$$Lambda$Own", "pkg.A$$Lambda$Own" },
		{ "pkg.A$$Lambda$4x", "pkg.A$$Lambda$4x" },
		{ "pkg.MyAccessor12", "pkg.MyAccessor12" },
		{ "pkg.GeneratedThing12", "pkg.GeneratedThing12" },
		{ "com.sun.proxy.$Proxy12", "com.sun.proxy.$Proxy12" },
		{ "12", "12" },
		{ "int[]", "int[]" },
		{ "/", "/" },
		{ "[]", "[]" },
	};
	const struct frame_name_options plain = { 0 }, exact = { .names = FRAME_NAMES_EXACT };
	struct profile_frame f = { .mapping = PROFILE_NONE, .kind = FRAME_CLASS };
	struct profile p;

	(void)state;
	profile_init(&p);
	for (size_t i = 0; i < ARRAY_SIZE(classes); i++) {
		f.class_name = profile_string(&p, classes[i][0]);
		check_name(&p, &f, plain, classes[i][1]);
		check_name(&p, &f, exact, classes[i][0]);
	}
	profile_release(&p);
}

/* Of Java frames of every kind, where it is known, behind the name and in front of the rest. */
static void test_signatures(void **state)
{
	const struct frame_name_options none = { 0 },
					signatures = { .names = FRAME_NAMES_SIGNATURES },
					all = { .lines = true,
						.annotate = true,
						.names = FRAME_NAMES_SIGNATURES |
							 FRAME_NAMES_SIMPLE | FRAME_NAMES_BCI },
					bars = { .names = FRAME_NAMES_SIGNATURES |
							  FRAME_NAMES_NO_SEMICOLON };
	struct profile_frame f = { .mapping = PROFILE_NONE, .line = 12, .bci = 7 };
	struct profile p;

	(void)state;
	profile_init(&p);
	f.class_name = profile_string(&p, "java.lang.String");
	f.name = profile_string(&p, "of;");
	f.kind = FRAME_JAVA_INLINED;
	check_name(&p, &f, signatures, "java.lang.String.of;");
	f.descriptor = profile_string(&p, "([Ljava/lang/String;I)LA;");
	check_name(&p, &f, none, "java.lang.String.of;");
	check_name(&p, &f, signatures, "java.lang.String.of;([Ljava/lang/String;I)LA;");
	check_name(&p, &f, all, "String.of;([Ljava/lang/String;I)LA;@7:12_[i]");
	check_name(&p, &f, bars, "java.lang.String.of;([Ljava/lang/String|I)LA|");
	for (uint32_t kind = 0; kind < FRAME_KIND_COUNT; kind++) {
		f.kind = kind;
		if (kind == FRAME_COMPILING)
			continue;
		check_name(&p, &f, signatures,
			   frame_kind_is_java(kind)
				   ? "java.lang.String.of;([Ljava/lang/String;I)LA;"
				   : "java.lang.String.of;");
	}
	f.kind = FRAME_COMPILING;
	check_name(&p, &f, signatures, "[compiling] java.lang.String.of;([Ljava/lang/String;I)LA;");
	check_name(&p, &f, all, "[compiling] String.of;([Ljava/lang/String;I)LA;@7_[j]");
	profile_release(&p);
}

/* As lines: of Java frames, where it is known. */
static void test_bci(void **state)
{
	const struct frame_name_options bci = { .names = FRAME_NAMES_BCI }, both = {
		.lines = true, .annotate = true, .names = FRAME_NAMES_BCI
	};
	struct profile_frame f = { .mapping = PROFILE_NONE,
				   .line = 12,
				   .kind = FRAME_JAVA_INLINED };
	struct profile p;

	(void)state;
	profile_init(&p);
	f.name = profile_string(&p, "f");
	check_name(&p, &f, bci, "f@0");
	f.bci = 7;
	check_name(&p, &f, both, "f@7:12_[i]");
	f.bci = -1;
	check_name(&p, &f, both, "f:12_[i]");
	f.bci = 7;
	f.kind = FRAME_NATIVE;
	check_name(&p, &f, bci, "f");
	profile_release(&p);
}

/* A line is said of Java frames only, of every kind of them, and when it is known. */
static void test_lines(void **state)
{
	static const bool java[FRAME_KIND_COUNT] = {
		[FRAME_JAVA_INTERPRETED] = true,
		[FRAME_JAVA_C1] = true,
		[FRAME_JAVA_JIT] = true,
		[FRAME_JAVA_INLINED] = true,
	};
	const struct frame_name_options lines = { .lines = true };
	struct profile_frame f = { .mapping = PROFILE_NONE };
	struct profile p;

	(void)state;
	profile_init(&p);
	f.name = profile_string(&p, "f");
	for (unsigned int kind = 0; kind < FRAME_KIND_COUNT; kind++) {
		if (kind == FRAME_COMPILING) /* its name has more */
			continue;
		f.kind = kind;
		f.line = 1;
		check_name(&p, &f, lines, java[kind] ? "f:1" : "f");
		f.line = 0;
		check_name(&p, &f, lines, "f");
		f.line = -1;
		check_name(&p, &f, lines, "f");
	}
	profile_release(&p);
}

static void test_native_names(void **state)
{
	const struct frame_name_options plain = { .lines = true, .annotate = true };
	struct profile p;
	struct profile_mapping m = { 0 };
	struct profile_frame f = { .address = 0x1234, .line = 7, .bci = -1, .kind = FRAME_NATIVE };

	(void)state;
	profile_init(&p);
	m.path = profile_string(&p, "/usr/lib/libfoo.so");
	f.mapping = profile_mapping(&p, &m);
	check_name(&p, &f, plain, "[libfoo.so+0x1234]");
	f.into = 0x34; /* its function's place is the name */
	check_name(&p, &f, plain, "[libfoo.so+0x1200]");
	f.into = 0;
	f.name = profile_string(&p, "a;b<int>");
	check_name(&p, &f, plain, "a;b<int>");
	f.name = 0;
	m.path = profile_string(&p, "[vdso]");
	f.mapping = profile_mapping(&p, &m);
	check_name(&p, &f, plain, "[vdso+0x1234]");
	f.mapping = PROFILE_NONE;
	check_name(&p, &f, plain, "[unknown+0x1234]");
	f.address = 0;
	check_name(&p, &f, plain, "[unknown]");
	f.name = profile_string(&p, "do_syscall_64");
	f.kind = FRAME_KERNEL;
	check_name(&p, &f, plain, "do_syscall_64_[k]");
	profile_release(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table_is_whole), cmocka_unit_test(test_from_jfr),
		cmocka_unit_test(test_names),	       cmocka_unit_test(test_java_names),
		cmocka_unit_test(test_normal_names),   cmocka_unit_test(test_bci),
		cmocka_unit_test(test_signatures),     cmocka_unit_test(test_lines),
		cmocka_unit_test(test_native_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
