// SPDX-License-Identifier: Apache-2.0
/* From words to frames, with files, symbols and a JVM of which everything is known. */
#include "symbolize_parts.h"

/* --- addresses --- */

static void addresses_of_files(void **state)
{
	struct fixture *f = *state;

	map_file(f, MAPPED, 1, 0x2000, "/bin/a");
	map_file(f, 2 * MAPPED, 2, 0, "/lib/b");
	set_words(f, NO_KERNEL, USER_WORDS((MAPPED + 0x100) | EXACT, 2 * MAPPED + 0x100));
	assert_string_equal(stack(f), "f31+3100_n@/bin/a f10+10ff_n@/lib/b");
	/* The same word, as a pc and as a return address. */
	set_words(f, NO_KERNEL, USER_WORDS(MAPPED + 0x100, (MAPPED + 0x100) | EXACT));
	assert_string_equal(stack(f), "f30+30ff_n@/bin/a f31+3100_n@/bin/a");
}

/* The vsyscall page is at the top of all addresses. */
static void addresses_have_a_sign(void **state)
{
	struct fixture *f = *state;

	map_file(f, 0xffffffffff600000ULL, 1, 0, "/vsyscall");
	set_words(f, NO_KERNEL,
		  USER_WORDS((0xffffffffff600100ULL & WIRE_FRAME_ADDRESS_MASK) | EXACT));
	assert_string_equal(stack(f), "f11+1100_n@/vsyscall");
}

static void kernel_addresses(void **state)
{
	struct fixture *f = *state;

	set_words(f, KERNEL_WORDS(KERNEL + 0x100, KERNEL + 0x200, MODULE + 0x300), NO_USER);
	assert_string_equal(stack(f), "k1+ffffffff81000100_k@[kernel]"
				      " k1+ffffffff810001ff_k@[kernel]"
				      " k2+ffffffff900002ff_k@[ext4]");
}

/* The core alone has a build id. */
static void build_ids(void **state)
{
	struct fixture *f = *state;
	const struct profile *p = &f->profile;

	parts.images[1].build_id = "abcd";
	map_file(f, MAPPED, 1, 0, "/bin/a");
	set_words(f, KERNEL_WORDS(KERNEL + 1, MODULE + 1), USER_WORDS(MAPPED | EXACT));
	stack(f);
	assert_string_equal(profile_get_string(p, profile_get_mapping(p, 0)->build_id), "c0ffee");
	assert_string_equal(profile_get_string(p, profile_get_mapping(p, 1)->path), "[ext4]");
	assert_int_equal(profile_get_mapping(p, 1)->build_id, 0);
	assert_string_equal(profile_get_string(p, profile_get_mapping(p, 2)->build_id), "abcd");
	assert_int_equal(profile_get_mapping(p, 2)->start, 0x1000);
	assert_int_equal(profile_get_mapping(p, 2)->limit, 0x9000);
	assert_int_equal(profile_get_mapping(p, 2)->offset, 0);
}

static void hidden_kernel_symbols(void **state)
{
	struct fixture *f = *state;

	parts.kernel = -EPERM;
	assert_string_equal(symbolizer_kernel_failure(f->symbolizer), "");
	set_words(f, KERNEL_WORDS(KERNEL + 0x100), NO_USER);
	assert_string_equal(stack(f), "+ffffffff81000100_k@[kernel]");
	set_words(f, KERNEL_WORDS(KERNEL + 0x200), NO_USER);
	stack(f);
	assert_int_equal(parts.kernel_reads, 1);
	assert_string_equal(symbolizer_kernel_failure(f->symbolizer), "hidden");
}

/* --- files --- */

static void kinds_of_code(void **state)
{
	struct fixture *f = *state;

	parts.images[1].cpp = true;
	parts.images[2].limit = 0; /* mapped, but no ELF file */
	parts.images[3].state = IMAGE_FAILED;
	map_file(f, MAPPED, 1, 0, "/lib/c++ (deleted)");
	map_file(f, 2 * MAPPED, 2, 0, "/memfd:jit (deleted)");
	map_file(f, 3 * MAPPED, 3, 0x5000, "/lib/unreadable");
	map_file(f, 4 * MAPPED, 0, 0, "[heap]");
	map_file(f, 5 * MAPPED, 0, 0, "");
	set_words(f, NO_KERNEL,
		  USER_WORDS((MAPPED + 0x100) | EXACT, (2 * MAPPED) | EXACT,
			     (3 * MAPPED + 0x10) | EXACT, (4 * MAPPED) | EXACT,
			     (5 * MAPPED) | EXACT, (6 * MAPPED) | EXACT, MAPPED + 0x8f00));
	assert_string_equal(stack(f), "f11+1100_c@/lib/c++ "
				      "/memfd:jit (deleted)_n@/memfd:jit "
				      "+5010_n@/lib/unreadable [heap]_n@[heap] [anon]_n@[anon] "
				      "[unknown]_n [process start]_m");
}

static void files_are_waited_for(void **state)
{
	struct fixture *f = *state;

	parts.images[1].state = parts.images[2].state = IMAGE_NEW;
	map_file(f, MAPPED, 1, 0, "/bin/a");
	map_file(f, 2 * MAPPED, 2, 0, "/bin/b");
	set_words(f, KERNEL_WORDS(KERNEL),
		  USER_WORDS(MAPPED | EXACT, 2 * MAPPED + 1, (3 * MAPPED) | EXACT));
	assert_false(is_ready(f));
	/* Both are asked for at once, and once. */
	assert_int_equal(parts.images[1].loads + parts.images[2].loads, 2);
	parts.images[1].state = IMAGE_READY;
	assert_false(is_ready(f));
	parts.images[2].state = IMAGE_FAILED;
	assert_true(is_ready(f));
	assert_int_equal(parts.images[1].loads + parts.images[2].loads, 2);
}

/* What is found while another file is waited for, and what is found in time, is not asked for again. */
static void an_address_is_looked_up_once(void **state)
{
	struct fixture *f = *state;
	const struct intern *frames = &f->profile.frames, *stacks = &f->profile.stacks;
	uint32_t frames_before = intern_len(frames), stacks_before = intern_len(stacks);

	parts.images[2].state = IMAGE_NEW;
	map_file(f, MAPPED, 1, 0, "/bin/a");
	map_file(f, 2 * MAPPED, 2, 0, "/bin/b");
	set_words(f, KERNEL_WORDS(KERNEL),
		  USER_WORDS((MAPPED + 0x100) | EXACT, (2 * MAPPED + 0x100) | EXACT));
	f->sample.reason = UNWIND_DEPTH;
	assert_false(is_ready(f));
	assert_false(is_ready(f));
	assert_int_equal(parts.images[1].finds, 1);
	assert_int_equal(parts.images[2].finds, 0);
	/* Nothing was made of what is missing. */
	assert_int_equal(intern_len(stacks), stacks_before);
	assert_int_equal(intern_len(frames), frames_before + 2);
	parts.images[2].state = IMAGE_READY;
	assert_true(is_ready(f));
	assert_string_equal(stack(f), "k0+ffffffff81000000_k@[kernel] f11+1100_n@/bin/a "
				      "f11+1100_n@/bin/b [unwind: depth]_m");
	f->sample.reason = UNWIND_BUDGET; /* another stack */
	stack(f);
	assert_int_equal(parts.images[1].finds, 1);
	assert_int_equal(parts.images[2].finds, 1);
	assert_int_equal(parts.images[1].opens + parts.images[2].opens, 2);
}

/* One that could not wait has no names; the next has. */
static void what_was_not_ready_is_not_kept(void **state)
{
	struct fixture *f = *state;

	parts.images[1].state = IMAGE_LOADING;
	parts.images[1].build_id = "";
	map_file(f, MAPPED, 1, 0, "/bin/a");
	set_words(f, NO_KERNEL, USER_WORDS((MAPPED + 0x100) | EXACT));
	f->sample.reason = UNWIND_DEPTH;
	assert_string_equal(stack(f), "+100_n@/bin/a [unwind: depth]_m");
	parts.images[1].state = IMAGE_READY;
	assert_string_equal(stack(f), "f11+1100_n@/bin/a [unwind: depth]_m");
}

/* A process has its files as long as it maps them; then anybody may forget them. */
static void files_of_its_mappings(void **state)
{
	struct fixture *f = *state;

	map_file(f, MAPPED, 1, 0, "/bin/a");
	map_file(f, 2 * MAPPED, 2, 0, "/bin/b");
	arrive(f);
	assert_int_equal(parts.images[1].refs, 1);
	assert_int_equal(parts.images[2].refs, 1);
	/* In its place. */
	map_file(f, 2 * MAPPED, 3, 0, "/bin/c");
	assert_int_equal(parts.images[2].refs, 1);
	arrive(f);
	assert_int_equal(parts.images[1].refs, 1);
	assert_int_equal(parts.images[2].refs, 0);
	assert_int_equal(parts.images[3].refs, 1);
	parts.images[1].state = IMAGE_DROPPED; /* opened anew: it is had once */
	set_words(f, NO_KERNEL, USER_WORDS(MAPPED | EXACT));
	is_ready(f);
	assert_int_equal(parts.images[1].refs, 1);
	symbolizer_forget(f->symbolizer, &f->process);
	assert_int_equal(parts.images[1].refs + parts.images[3].refs, 0);
}

static void files_are_opened_early_and_once(void **state)
{
	struct fixture *f = *state;

	map_file(f, MAPPED, 1, 0, "/bin/a");
	map_file(f, 2 * MAPPED, 2, 0, "/bin/b");
	arrive(f);
	arrive(f);
	assert_int_equal(parts.images[1].opens, 1);
	assert_int_equal(parts.images[2].opens, 1);
	map_file(f, 3 * MAPPED, 3, 0, "/bin/c");
	arrive(f);
	assert_int_equal(parts.images[3].opens, 1);
	assert_int_equal(parts.images[1].opens, 1);
	parts.images[1].state = IMAGE_DROPPED; /* for want of memory */
	set_words(f, NO_KERNEL, USER_WORDS(MAPPED | EXACT));
	assert_false(is_ready(f));
	assert_int_equal(parts.images[1].opens, 2);
	assert_int_equal(parts.images[1].loads, 1);
}

/* Those that the sample has frames of; each page of code asks once, until mappings change. */
static void files_are_read_early_and_once(void **state)
{
	struct fixture *f = *state;

	map_file(f, MAPPED, 1, 0, "/bin/a");
	map_file(f, 2 * MAPPED, 2, 0, "/bin/b");
	for (int i = 1; i <= 3; i++)
		parts.images[i].state = IMAGE_NEW;
	set_words(f, NO_KERNEL, USER_WORDS((MAPPED + 0x100) | EXACT, 9 * MAPPED));
	arrive(f);
	assert_int_equal(parts.images[1].loads + parts.images[2].loads, 1);
	parts.images[1].state = IMAGE_NEW;
	arrive(f);
	assert_int_equal(parts.images[1].loads, 1);
	set_words(f, NO_KERNEL, USER_WORDS((MAPPED + 0x1100) | EXACT, 2 * MAPPED + 0x101));
	arrive(f);
	assert_int_equal(parts.images[1].loads, 2);
	assert_int_equal(parts.images[2].loads, 1);
	map_file(f, 2 * MAPPED, 3, 0, "/bin/c");
	parts.images[1].state = IMAGE_READY;
	arrive(f);
	assert_int_equal(parts.images[1].loads, 2);
	assert_int_equal(parts.images[3].loads, 1);
}

static void the_vdso(void **state)
{
	struct fixture *f = *state;

	map_file(f, MAPPED, 0, 0, "[vdso]");
	set_words(f, NO_KERNEL, USER_WORDS((MAPPED + 0x100) | EXACT, MAPPED + 0x301));
	assert_string_equal(stack(f), "f11+1100_n@[vdso] f13+1300_n@[vdso]");
	assert_int_equal(parts.images[7].opens, 1);
}

/* --- other JITs --- */

/* A runtime may begin to write its map at any time. */
static void perf_maps_are_looked_for_again(void **state)
{
	struct fixture *f = *state;

	map_file(f, MAPPED, 0, 0, "");
	set_words(f, NO_KERNEL, USER_WORDS(MAPPED | EXACT, (MAPPED + 0x800) | EXACT));
	assert_string_equal(stack(f), "[anon]_n@[anon] [anon]_n@[anon]");
	assert_int_equal(parts.perf_map_opens, 1);
	parts.perf_map = "js";
	fake_advance(999 * NSEC_PER_MSEC);
	assert_string_equal(stack(f), "[anon]_n@[anon] [anon]_n@[anon]");
	fake_advance(1 * NSEC_PER_MSEC);
	assert_string_equal(stack(f), "js_o@[JIT] [anon]_n@[anon]");
	parts.perf_map = "js2";
	assert_string_equal(stack(f), "js2_o@[JIT] [anon]_n@[anon]");
	assert_int_equal(parts.perf_map_opens, 2);
}

/* It is looked for as long as there is none, says more than a map, and is the one that is mapped. */
static void dumps_that_are_mapped(void **state)
{
	struct fixture *f = *state;

	map_file(f, MAPPED, 0, 0, "");
	map_file(f, 2 * MAPPED, 3, 0, "/tmp/jit-8.dump");
	parts.jit_dump = "dumped";
	set_words(f, NO_KERNEL, USER_WORDS(MAPPED | EXACT, (MAPPED + 0x900) | EXACT));
	assert_string_equal(stack(f), "[anon]_n@[anon] [anon]_n@[anon]");
	assert_int_equal(parts.jit_dump_opens, 0);
	map_file(f, 3 * MAPPED, 0, 0, "/tmp/jit-7.dump");
	fake_advance(NSEC_PER_SEC);
	assert_string_equal(stack(f), "[anon]_n@[anon] [anon]_n@[anon]");
	assert_int_equal(parts.jit_dump_opens, 0);
	map_file(f, 3 * MAPPED, 4, 0, "/tmp/jit-7.dump");
	fake_advance(999 * NSEC_PER_MSEC);
	assert_string_equal(stack(f), "[anon]_n@[anon] [anon]_n@[anon]");
	fake_advance(NSEC_PER_MSEC);
	assert_string_equal(stack(f), "[anon]_n@[anon] dumped_o@[JIT]");
	parts.perf_map = "js";
	fake_advance(NSEC_PER_SEC);
	assert_string_equal(stack(f), "js_o@[JIT] dumped_o@[JIT]");
	set_words(f, NO_KERNEL, USER_WORDS((MAPPED + 0x100) | EXACT));
	assert_string_equal(stack(f), "dumped_o@[JIT]");
	assert_int_equal(parts.jit_dump_opens, 1);
}

/* Beside a map, too. */
static void a_dump_that_comes_later(void **state)
{
	struct fixture *f = *state;

	map_file(f, MAPPED, 0, 0, "");
	parts.perf_map = "js";
	set_words(f, NO_KERNEL, USER_WORDS((MAPPED + 0x100) | EXACT));
	assert_string_equal(stack(f), "js_o@[JIT]");
	map_file(f, 3 * MAPPED, 4, 0, "/tmp/jit-7.dump");
	parts.jit_dump = "dumped";
	fake_advance(NSEC_PER_SEC);
	assert_string_equal(stack(f), "dumped_o@[JIT]");
	assert_int_equal(parts.perf_map_opens, 1);
}

/* --- what is kept --- */

static void programs_of_one_pid(void **state)
{
	struct fixture *f = *state;
	uint64_t serial;

	map_file(f, MAPPED, 1, 0, "/bin/a");
	set_words(f, NO_KERNEL, USER_WORDS((MAPPED + 0x100) | EXACT));
	assert_string_equal(stack(f), "f11+1100_n@/bin/a");
	symbolizer_forget(f->symbolizer, &f->process); /* its exec */
	serial = f->process.mappings_serial;
	mappings_clear(&f->process);
	map_file(f, MAPPED, 2, 0x1000, "/bin/b");
	f->process.mappings_serial = serial; /* as it was in the first program's life */
	f->process.serial++;
	assert_string_equal(stack(f), "f21+2100_n@/bin/b");
}

static void a_changed_mapping(void **state)
{
	struct fixture *f = *state;

	map_file(f, MAPPED, 1, 0, "/bin/a");
	set_words(f, NO_KERNEL, USER_WORDS((MAPPED + 0x100) | EXACT));
	stack(f);
	map_file(f, MAPPED, 2, 0x1000, "/bin/b");
	assert_string_equal(stack(f), "f21+2100_n@/bin/b");
}

static void equal_words_of_different_stacks(void **state)
{
	struct fixture *f = *state;

	map_file(f, KERNEL & WIRE_FRAME_ADDRESS_MASK, 1, 0, "/user");
	set_words(f, KERNEL_WORDS(KERNEL + 0x10, MODULE + 0x10), NO_USER);
	assert_string_equal(stack(f),
			    "k0+ffffffff81000010_k@[kernel] k0+ffffffff9000000f_k@[ext4]");
	f->sample.kernel_frames = 1;
	f->sample.user_words = 1;
	assert_null(strstr(stack(f), "[ext4]"));
	/* The root tells the reason, and whose thread it is. */
	parts.images[1].limit = 0x1000;
	map_file(f, MAPPED, 1, 0x100000, "/bin/stripped");
	parts.images[1].limit = 0x1001;
	set_words(f, NO_KERNEL, USER_WORDS(MAPPED | EXACT));
	assert_string_equal(stack(f), "[process start]_m");
	f->sample.tid++;
	assert_string_equal(stack(f), "[thread start]_m");
	f->sample.reason = UNWIND_PAGE;
	assert_string_equal(stack(f), "+101000_n@/bin/stripped [unwind: page-not-resident]_m");
	f->sample.reason = UNWIND_BUDGET;
	assert_string_equal(stack(f), "+101000_n@/bin/stripped [unwind: budget]_m");
	f->sample.reason = UNWIND_KERNEL_THREAD;
	assert_string_equal(stack(f), "+101000_n@/bin/stripped");
	f->sample.reason = 255;
	assert_string_equal(stack(f), "+101000_n@/bin/stripped [unwind: unknown]_m");
}

/* What was inlined, and the function; symbols name the rest. */
static void functions_of_go(void **state)
{
	struct fixture *f = *state;

	parts.images[1].go = 0x2000;
	map_file(f, MAPPED, 1, 0, "/bin/go");
	set_words(f, NO_KERNEL, USER_WORDS((MAPPED + 0xf12) | EXACT, MAPPED + 0x1101));
	for (int i = 0; i < 2; i++)
		assert_string_equal(stack(f), "inner+1f12:21_g@/bin/go main.run+1f12:22_n@/bin/go "
					      "f21+2100_n@/bin/go");
}

/* Its address stays, and how far it is from where its function begins. */
static void functions_without_names(void **state)
{
	struct fixture *f = *state;

	parts.images[1].limit = 0x1f80;
	parts.images[1].bounded = 0x2200;
	map_file(f, MAPPED, 1, 0, "/bin/stripped");
	set_words(f, NO_KERNEL,
		  USER_WORDS((MAPPED + 0xf12) | EXACT, (MAPPED + 0x1034) | EXACT, MAPPED + 0x1101,
			     (MAPPED + 0x1212) | EXACT, MAPPED + 0x11ff,
			     (MAPPED + 0x1234) | EXACT));
	f->sample.reason = UNWIND_BUDGET;
	assert_string_equal(
		stack(f), "f1f+1f12_n@/bin/stripped +2034-34_n@/bin/stripped +2100_n@/bin/stripped "
			  "+2212_n@/bin/stripped +21fe-fe_n@/bin/stripped +2234_n@/bin/stripped "
			  "[unwind: budget]_m");
	/* The first of a thread is named by its role as before. */
	f->sample.reason = UNWIND_DONE;
	assert_non_null(strstr(stack(f), "+21fe-fe_n@/bin/stripped [process start]_m"));
	f->sample.user_words--;
	assert_non_null(strstr(stack(f), "+2212_n@/bin/stripped [process start]_m"));
}

/* Numbers of the last chunk's tables mean something else in the next. */
static void a_new_chunk(void **state)
{
	struct fixture *f = *state;
	char *first;

	parts.perf_map = "js";
	parts.is_jvm = true;
	parts.jvm = (struct jvm){ .of_compiled = JAVA_FRAMES };
	map_file(f, MAPPED, 1, 0, "/bin/a");
	map_file(f, 2 * MAPPED, 0, 0, "");
	set_words(f, KERNEL_WORDS(KERNEL + 1, MODULE + 1),
		  USER_WORDS(MAPPED | EXACT, (2 * MAPPED) | EXACT, KIND(COMPILED) | 0x7000, 5));
	first = xstrdup(stack(f));
	for (int i = 0; i < 3; i++) {
		struct profile_mapping other = { .start = 1 };

		profile_release(&f->profile);
		profile_init(&f->profile);
		for (int j = 0; j <= i; j++) {
			char path[8];

			snprintf(path, sizeof(path), "/o%d", j);
			other.path = profile_string(&f->profile, path);
			profile_mapping(&f->profile, &other);
			profile_frame(&f->profile,
				      &(struct profile_frame){ .name = other.path,
							       .mapping = PROFILE_NONE });
		}
		symbolizer_reset_ids(f->symbolizer);
		assert_string_equal(stack(f), first);
		/* Words that are new, files and kernel functions that are not. */
		f->sample.words[2] += 0x1000;
		stack(f);
		f->sample.words[2] -= 0x1000;
	}
	free(first);
}

/* One that is gone leaves nothing for its pid's next owner, and takes nothing from him. */
static void what_is_forgotten(void **state)
{
	struct fixture *f = *state;
	struct process old = { .pid = PID, .serial = 99 };

	parts.perf_map = "js";
	map_file(f, MAPPED, 0, 0, "");
	set_words(f, NO_KERNEL, USER_WORDS(MAPPED | EXACT));
	stack(f);
	symbolizer_forget(f->symbolizer, &old);
	stack(f);
	assert_int_equal(parts.perf_map_opens, 1);
	symbolizer_forget(f->symbolizer, &f->process);
	stack(f);
	assert_int_equal(parts.perf_map_opens, 2);
}

/* What was never made. */
static void nothing_is_freed(void **state)
{
	(void)state;
	symbolizer_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(addresses_of_files),
		TEST(addresses_have_a_sign),
		TEST(kernel_addresses),
		TEST(build_ids),
		TEST(hidden_kernel_symbols),
		TEST(kinds_of_code),
		TEST(files_are_waited_for),
		TEST(an_address_is_looked_up_once),
		TEST(what_was_not_ready_is_not_kept),
		TEST(files_of_its_mappings),
		TEST(files_are_read_early_and_once),
		TEST(files_are_opened_early_and_once),
		TEST(the_vdso),
		TEST(perf_maps_are_looked_for_again),
		TEST(dumps_that_are_mapped),
		TEST(a_dump_that_comes_later),
		TEST(programs_of_one_pid),
		TEST(a_changed_mapping),
		TEST(equal_words_of_different_stacks),
		TEST(functions_of_go),
		TEST(functions_without_names),
		TEST(a_new_chunk),
		TEST(what_is_forgotten),
		TEST(nothing_is_freed),
	};

	return cmocka_run_group_tests_name("symbolize_parts", tests, NULL, NULL);
}
