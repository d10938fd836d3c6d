// SPDX-License-Identifier: Apache-2.0
/* How often one looks which files a process maps: of our own, whose mappings are in /proc. */
#include "process/exec_maps.h"
#include "symbolize_parts.h"

/* Of each file one mapping has code. */
static void map_one(const struct exec_map *map, void *data)
{
	struct fixture *f = data;

	if (map->m.key.inode)
		mappings_add(&f->process, &map->m);
}

static void map_own(struct fixture *f)
{
	f->process.pid = (uint32_t)getpid();
	assert_int_equal(exec_maps_read(f->process.pid, "/proc/self/maps", map_one, f), 0);
	assert_true(f->process.mappings.len > 3);
	set_words(f, (const uint64_t[4]){ 0 }, (const uint64_t[12]){ MAPPED | EXACT });
	f->sample.tgid = f->sample.tid = f->process.pid;
}

static unsigned int opens(void)
{
	unsigned int sum = 0;

	for (size_t i = 0; i < ARRAY_SIZE(parts.images); i++)
		sum += parts.images[i].opens;
	return sum;
}

/* Where the kernel can be asked for mappings (Linux 6.11). */
static bool kernel_can(void)
{
	uint64_t at = 0;
	struct fixture none = { .process.pid = 0 };
	int r = exec_maps_query((uint32_t)getpid(), "/proc/self/maps", 0, &at, map_one, &none);

	mappings_clear(&none.process);
	return r == 0;
}

static void all_files_at_once(void **state)
{
	struct fixture *f = *state;
	size_t files;

	map_own(f);
	files = f->process.mappings.len;
	parts.unseen = true;
	symbolizer_arrive(f->symbolizer, &f->process, &f->sample);
	assert_int_equal(parts.seen, kernel_can() ? files : 0);
	assert_int_equal(opens() - parts.seen, files);
	/* Once, also where code without a file comes and goes. */
	symbolizer_arrive(f->symbolizer, &f->process, &f->sample);
	assert_int_equal(opens() - parts.seen, files);
	map_file(f, MAPPED, 0, 0, "");
	symbolizer_arrive(f->symbolizer, &f->process, &f->sample);
	assert_int_equal(opens() - parts.seen, files);
	assert_int_equal(parts.seen, kernel_can() ? files : 0);
}

static void files_that_are_known(void **state)
{
	struct fixture *f = *state;

	map_own(f);
	symbolizer_arrive(f->symbolizer, &f->process, &f->sample);
	assert_int_equal(parts.seen, 0);
	assert_int_equal(opens(), f->process.mappings.len);
}

/* Two looks are made one by one. */
static void a_few_files(void **state)
{
	struct fixture *f = *state;

	f->process.pid = (uint32_t)getpid();
	map_file(f, MAPPED, 1, 0, "/bin/a");
	map_file(f, MAPPED + 0x20000, 2, 0, "/bin/b");
	set_words(f, (const uint64_t[4]){ 0 }, (const uint64_t[12]){ MAPPED | EXACT });
	parts.unseen = true;
	symbolizer_arrive(f->symbolizer, &f->process, &f->sample);
	assert_int_equal(opens(), 2);
}

/* What /proc says of a mapping that is another one by now is not believed. */
static void mappings_that_changed(void **state)
{
	struct fixture *f = *state;
	struct mapping *m;

	map_own(f);
	vec_for_each (m, &f->process.mappings)
		m->key.inode++;
	parts.unseen = true;
	symbolizer_arrive(f->symbolizer, &f->process, &f->sample);
	assert_int_equal(parts.seen, 0);
	assert_int_equal(opens(), f->process.mappings.len);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(all_files_at_once, setup, teardown),
		cmocka_unit_test_setup_teardown(files_that_are_known, setup, teardown),
		cmocka_unit_test_setup_teardown(a_few_files, setup, teardown),
		cmocka_unit_test_setup_teardown(mappings_that_changed, setup, teardown),
	};

	return cmocka_run_group_tests_name("process_files", tests, NULL, NULL);
}
