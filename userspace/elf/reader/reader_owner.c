// SPDX-License-Identifier: Apache-2.0
#include "elf/reader/reader_owner.h"

#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

#include "base/macros.h"

static const char *const own_places[] = { "/", "/usr" };

/* Of each place, as in the lower half of an owner. */
static uint32_t own_devices[ARRAY_SIZE(own_places)];
static pthread_once_t own_devices_once = PTHREAD_ONCE_INIT;

/* MAJORBITS, MINORBITS of include/linux/kdev_t.h: 12 and 20. */
static uint32_t device_of(const struct file_id *id)
{
	return id->major << 20 ^ id->minor;
}

uint64_t reader_owner(const struct file_id *id)
{
	uint32_t user = id->shared ? ~id->owner : id->owner;

	return (uint64_t)user << 32 | device_of(id);
}

/* 0:0, that of no file, is the kernel's vDSO's. */
static void find_own_devices(void)
{
	for (size_t i = 0; i < ARRAY_SIZE(own_places); i++) {
		_cleanup_close_ int fd = open(own_places[i], O_PATH | O_CLOEXEC);
		struct file_id id;

		if (fd >= 0 && file_id_read(fd, &id) == 0)
			own_devices[i] = device_of(&id);
	}
}

static bool is_own_device(uint32_t device)
{
	pthread_once(&own_devices_once, find_own_devices);
	for (size_t i = 0; i < ARRAY_SIZE(own_devices); i++)
		if (device == own_devices[i])
			return true;
	return false;
}

uint64_t reader_owner_group(uint64_t owner)
{
	uint32_t user = (uint32_t)(owner >> 32), device = (uint32_t)owner;

	if ((user == 0 || user == geteuid()) && is_own_device(device))
		return READER_TRUSTED;
	return user == 0 ? owner : (uint64_t)user << 32;
}
