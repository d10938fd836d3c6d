/* SPDX-License-Identifier: Apache-2.0 */
/*
 * usage: jitted SECONDS [dump]
 * Code without a file, with frame pointers: main -> run_jit -> jit_one -> jit_two -> jit_three ->
 * back_in_c. The names of the three are in /tmp/perf-PID.map, which stays for the test to remove. With "dump" they are in a jitdump,
 * /tmp/jit-PID.dump, of which a page is mapped; one of them was elsewhere before.
 */
#include "known.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define JIT_BYTES 64

KNOWN static uint64_t back_in_c(uint64_t rounds)
{
	known_spin(rounds);
	return known_sink;
}

KNOWN static uint64_t run_jit(uint64_t (*jit)(uint64_t), uint64_t rounds)
{
	return jit(rounds) + 1;
}

/* push %rbp; mov %rsp,%rbp; movabs $callee,%rax; call *%rax; mov $N,%ecx; 1: dec; jnz 1b; pop; ret */
static void emit(uint8_t *at, const void *callee)
{
	static const uint8_t code[] = { 0x55, 0x48, 0x89, 0xe5, 0x48, 0xb8, 0,	  0,	0,
					0,    0,    0,	  0,	0,    0xff, 0xd0, 0xb9, 0x00,
					0x40, 0x00, 0x00, 0xff, 0xc9, 0x75, 0xfc, 0x5d, 0xc3 };

	memcpy(at, code, sizeof(code));
	memcpy(at + 6, &callee, sizeof(callee));
}

static void write_map(const uint8_t *code)
{
	static const char *const names[] = { "jit_three", "jit_two", "jit_one" };
	char path[64];
	FILE *map;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	map = fopen(path, "w");
	for (int i = 0; map && i < 3; i++)
		fprintf(map, "%lx %x %s\n", (unsigned long)(code + i * JIT_BYTES), JIT_BYTES,
			names[i]);
	if (map)
		fclose(map);
}

static void put(int fd, const void *bytes, size_t len)
{
	if (write(fd, bytes, len) != (ssize_t)len)
		abort();
}

/* A record of a jitdump (tools/perf/Documentation/jitdump-specification.txt): 0, code that is there; 1, that has moved. */
static void put_record(int fd, uint32_t kind, const uint64_t *words, uint32_t count,
		       const char *name)
{
	size_t name_len = name ? strlen(name) + 1 : 0;
	const uint32_t head[] = { kind,
				  (uint32_t)(16 + 8 * count + name_len + (name ? JIT_BYTES : 0)), 0,
				  0 };

	put(fd, head, sizeof(head));
	put(fd, words, 8 * count);
	put(fd, name, name_len);
	if (name)
		put(fd, (const void *)(uintptr_t)words[2], JIT_BYTES);
}

static void put_code(int fd, const uint8_t *code, const char *name)
{
	const uint64_t at = (uintptr_t)code;

	put_record(fd, 0, (const uint64_t[]){ 0, at, at, JIT_BYTES, 1 }, 5, name);
}

static void write_dump(const uint8_t *code)
{
	const uint32_t header[] = { 0x4a695444, 1, 40, 62, 0, (uint32_t)getpid(), 0, 0, 0, 0 };
	const uint64_t at = (uintptr_t)code, from = at + 4 * JIT_BYTES, to = at + 2 * JIT_BYTES;
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "/tmp/jit-%d.dump", (int)getpid());
	fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0644);
	put(fd, header, sizeof(header));
	if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED)
		abort();
	put_code(fd, code, "jit_three");
	put_code(fd, code + JIT_BYTES, "jit_two");
	put_code(fd, code + 4 * JIT_BYTES, "jit_one");
	put_record(fd, 1, (const uint64_t[]){ 0, to, from, to, JIT_BYTES, 1 }, 6, NULL);
	close(fd);
}

int main(int argc, char **argv)
{
	uint64_t end_ns = known_end_ns(argc, argv);
	uint8_t *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const void *callee = (const void *)back_in_c;

	if (code == MAP_FAILED)
		return 1;
	for (int i = 0; i < 3; i++) {
		emit(code + i * JIT_BYTES, callee);
		callee = code + i * JIT_BYTES;
	}
	if (argc > 2)
		write_dump(code);
	else
		write_map(code);
	puts("ready");
	while (known_goes_on(end_ns))
		known_sink += run_jit((uint64_t(*)(uint64_t))(uintptr_t)callee, 50000);
	return known_done();
}
