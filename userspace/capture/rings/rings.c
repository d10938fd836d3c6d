// SPDX-License-Identifier: Apache-2.0
#include "capture/rings/rings.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <unistd.h>

#include "base/alloc.h"
#include "capture/map_bytes.h"
#include "capture/rings/ring_pump.h"

struct rings {
	struct ring_pump *pump; /* owned */
	int array_fd;		/* owned; a map of maps, by cpu number */
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

static int rings_publish_one(const struct rings *rings, unsigned int cpu, struct err *err)
{
	if (bpf_map_update_elem(rings->array_fd, &cpu, &rings->fds[cpu], BPF_ANY) < 0)
		return err_sys(err, -errno, "cannot give cpu %u its ring buffer", cpu);
	return 0;
}

/*
 * All at once: a single update of a map of maps waits for an RCU grace period (8 ms, 20 on a busy host), a batch
 * does so once at most. Kernels without batches for this map type get them one by one.
 */
int rings_publish(struct rings *rings, struct err *err)
{
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
		int r = rings_publish_one(rings, keys[i], err);

		if (r < 0)
			return r;
	}
	return 0;
}

/* The first ring shows what those of an array are. */
static int rings_make_array(struct rings *rings, unsigned int possible, struct err *err)
{
	LIBBPF_OPTS(bpf_map_create_opts, options);
	unsigned int first = 0;

	while (first + 1 < rings->size && rings->fds[first] < 0)
		first++;
	options.inner_map_fd = rings->size ? (uint32_t)rings->fds[first] : 0;
	rings->array_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "hostprof_rings",
					 sizeof(uint32_t), sizeof(uint32_t), possible, &options);
	return rings->array_fd < 0 ? err_sys(err, -errno, "cannot make the array of ring buffers")
				   : 0;
}

int rings_open(unsigned int possible, uint32_t ring_bytes, const struct cpu_list *cpus,
	       struct rings **ret_rings, struct err *err)
{
	_cleanup_(rings_freep) struct rings *rings = xcalloc(1, sizeof(*rings));
	int r = 0;

	rings->pump = ring_pump_new();
	rings->array_fd = -1;
	rings->ring_bytes = ring_bytes;
	for (unsigned int cpu = 0; r == 0 && cpu < cpus->size; cpu++)
		if (cpus->has[cpu])
			r = rings_make(rings, cpu, err);
	if (r == 0)
		r = rings_make_array(rings, possible, err);
	if (r == 0)
		r = ring_pump_start(rings->pump, err);
	if (r < 0)
		return r;
	*ret_rings = TAKE_PTR(rings);
	return 0;
}

int rings_array_fd(const struct rings *rings)
{
	return rings->array_fd;
}

int rings_add(struct rings *rings, unsigned int cpu, struct err *err)
{
	bool has = cpu < rings->size && rings->fds[cpu] >= 0;
	int r = has ? 0 : rings_make(rings, cpu, err);

	/* Again for one that has a ring: the last attempt may have come no further. */
	return r < 0 ? r : rings_publish_one(rings, cpu, err);
}

void rings_free(struct rings *rings)
{
	if (!rings)
		return;
	ring_pump_free(rings->pump);
	for (unsigned int cpu = 0; cpu < rings->size; cpu++)
		closep(&rings->fds[cpu]);
	closep(&rings->array_fd);
	free(rings->fds);
	free(rings);
}

int rings_fd(const struct rings *rings)
{
	return ring_pump_fd(rings->pump);
}

int rings_edge_fd(const struct rings *rings)
{
	return ring_pump_rings_fd(rings->pump);
}

void rings_taker_waits(struct rings *rings, bool waits)
{
	ring_pump_taker_waits(rings->pump, waits);
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

uint64_t rings_mapped_bytes(const struct rings *rings)
{
	uint64_t bytes = 0;

	for (unsigned int cpu = 0; cpu < rings->size; cpu++)
		if (rings->fds[cpu] >= 0)
			bytes += 2ULL * rings->ring_bytes;
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
