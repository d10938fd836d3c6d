// SPDX-License-Identifier: Apache-2.0
/* Symbols of programs that have ended: some stay for who runs them again, not as many as there is room for. */
#include "image_fixture.h"

#include "elf/image_cache.h"

#define FILES 6

static struct image *load(struct fixture *f, int number)
{
	struct image *image;
	char name[8];

	snprintf(name, sizeof(name), "n%d", number);
	image = open_named(f, name);
	image_load(f->cache, image);
	return image;
}

static void expect_states(struct image *const *images, const char *expected)
{
	char states[FILES + 1] = { 0 };

	for (size_t i = 0; i < FILES; i++)
		states[i] = image_state(images[i]) == IMAGE_READY ? 'r' : 'd';
	assert_string_equal(states, expected);
}

static void those_of_who_has_ended(void **state)
{
	struct fixture *f = *state;
	struct image *images[FILES];
	size_t each;

	image_cache_free(f->cache);
	f->cache = image_cache_new(NULL);
	for (int i = 0; i < FILES; i++) {
		char name[8];

		snprintf(name, sizeof(name), "n%d", i);
		copy_self(f, name);
		images[i] = load(f, i);
	}
	each = f->cache->content_bytes / FILES;
	image_cache_set_limit(f->cache, 9 * each);
	image_want(images[0]);
	/* All were asked for just now. */
	image_cache_close_idle(f->cache);
	expect_states(images, "rrrrrr");
	assert_ptr_equal(load(f, 1), images[1]);
	/* One is wanted, one was asked for again; of the others a third of the limit stays. */
	image_cache_close_idle(f->cache);
	expect_states(images, "rrdrrr");
	image_cache_close_idle(f->cache);
	expect_states(images, "rrddrr");
	image_cache_close_idle(f->cache);
	expect_states(images, "rrddrr");
	assert_int_equal(f->cache->content_bytes, 4 * each);
	/* Who comes back has his names again. */
	assert_ptr_equal(load(f, 2), images[2]);
	expect_states(images, "rrrdrr");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(those_of_who_has_ended, setup, teardown),
	};

	return cmocka_run_group_tests_name("image_unwanted", tests, NULL, NULL);
}
