// SPDX-License-Identifier: Apache-2.0
#include "capture/rings/rings.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <unistd.h>

#include "base/alloc.h"
#include "capture/bpf_session.h"
#include "capture/rings/ring_pump.h"

struct rings {
	struct ring_pump *pump; /* owned */
	int array_fd;		/* borrowed */
	uint32_t ring_bytes;
	int *fds; /* owned, by cpu number; -1: none */
	unsigned int size;
};

static void rings_make_room(struct rings *rings, unsigned int cpu)
{
	if (cpu < rings->size)
		return;
	rings->fds = xrealloc(rings->fds, (cpu + 1) * sizeof(*rings->fds));
	for (; rings->size <= cpu; rings->size++)
		rings->fds[rings->size] = -1;
}

/* Make the ring of one cpu and let the reader look at it; the program does not know it yet. */
static int rings_make(struct rings *rings, unsigned int cpu, struct err *err)
{
	int fd, r;

	rings_make_room(rings, cpu);
	fd = bpf_map_create(BPF_MAP_TYPE_RINGBUF, "hostprof_ring", 0, 0, rings->ring_bytes, NULL);
	if (fd < 0)
		return err_sys(err, -errno, "cannot make the ring buffer of cpu %u", cpu);
	r = ring_pump_add(rings->pump, fd);
	if (r < 0) {
		close(fd);
		return err_sys(err, r, "cannot map the ring buffer of cpu %u", cpu);
	}
	rings->fds[cpu] = fd;
	return 0;
}

static int rings_publish(struct rings *rings, unsigned int cpu, struct err *err)
{
	if (bpf_map_update_elem(rings->array_fd, &cpu, &rings->fds[cpu], BPF_ANY) < 0)
		return err_sys(err, -errno, "cannot give cpu %u its ring buffer", cpu);
	return 0;
}

/*
 * All at once: a single update of a map of maps waits for an RCU grace period (8 ms, 20 on a busy host), a batch
 * does so once at most. Kernels without batches for this map type get them one by one.
 */
static int rings_publish_all(void *data, struct err *err)
{
	struct rings *rings = data;
	_cleanup_free_ uint32_t *keys = xcalloc(rings->size, sizeof(*keys));
	_cleanup_free_ int *fds = xcalloc(rings->size, sizeof(*fds));
	uint32_t n = 0, count;

	for (unsigned int cpu = 0; cpu < rings->size; cpu++) {
		if (rings->fds[cpu] < 0)
			continue;
		keys[n] = cpu;
		fds[n++] = rings->fds[cpu];
	}
	count = n;
	if (bpf_map_update_batch(rings->array_fd, keys, fds, &count, NULL) == 0)
		return 0;
	for (uint32_t i = 0; i < n; i++) {
		int r = rings_publish(rings, keys[i], err);

		if (r < 0)
			return r;
	}
	return 0;
}

int rings_open(int array_fd, uint32_t ring_bytes, const struct cpu_list *cpus,
	       struct rings **ret_rings, struct err *err)
{
	_cleanup_(rings_freep) struct rings *rings = xcalloc(1, sizeof(*rings));
	int r;

	rings->pump = ring_pump_new();
	rings->array_fd = array_fd;
	rings->ring_bytes = ring_bytes;
	for (unsigned int cpu = 0; cpu < cpus->size; cpu++) {
		if (!cpus->has[cpu])
			continue;
		r = rings_make(rings, cpu, err);
		if (r < 0)
			return r;
	}
	r = ring_pump_start(rings->pump, rings_publish_all, rings, err);
	if (r < 0)
		return r;
	*ret_rings = TAKE_PTR(rings);
	return 0;
}

int rings_wait(struct rings *rings, struct err *err)
{
	return ring_pump_wait(rings->pump, err);
}

int rings_add(struct rings *rings, unsigned int cpu, struct err *err)
{
	bool has = cpu < rings->size && rings->fds[cpu] >= 0;
	int r = has ? 0 : rings_make(rings, cpu, err);

	/* Again for one that has a ring: the last attempt may have come no further. */
	return r < 0 ? r : rings_publish(rings, cpu, err);
}

void rings_free(struct rings *rings)
{
	if (!rings)
		return;
	ring_pump_free(rings->pump);
	for (unsigned int cpu = 0; cpu < rings->size; cpu++)
		closep(&rings->fds[cpu]);
	free(rings->fds);
	free(rings);
}

int rings_fd(const struct rings *rings)
{
	return ring_pump_fd(rings->pump);
}

void rings_add_side(struct rings *rings, struct sideband *sideband)
{
	ring_pump_add_side(rings->pump, sideband);
}

void rings_remove_side(struct rings *rings, const struct sideband *sideband)
{
	ring_pump_remove_side(rings->pump, sideband);
}

uint64_t rings_bytes(const struct rings *rings)
{
	uint64_t bytes = 0;

	for (unsigned int cpu = 0; cpu < rings->size; cpu++)
		if (rings->fds[cpu] >= 0)
			bytes += bpf_map_bytes(rings->fds[cpu]);
	return bytes;
}

static void rings_record(const void *record, size_t len, void *data)
{
	rings_deliver(data, record, len);
}

void rings_drain(struct rings *rings, const struct rings_handler *handler)
{
	struct rings_handler to = *handler;

	ring_pump_take(rings->pump, rings_record, &to);
}
