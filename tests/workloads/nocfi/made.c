/* SPDX-License-Identifier: Apache-2.0 */
/* usage: made SECONDS. main -> once -> pushing, moving, in_parts or jumping -> code of made_code.S, in memory without a file -> callee */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define KNOWN __attribute__((noipa))

typedef void made_fn(void (*callee)(void));

extern const uint8_t made_begin[], made_pushes[], made_moves[], made_parts[], made_jumps[],
	made_jumps_to[], made_end[], jumped_back[];
void jumping(void (*callee)(void), const void *made);

static volatile uint64_t sink;
static uint8_t *code;

static void *made_of(const uint8_t *what)
{
	return code + (what - made_begin);
}

KNOWN static void callee(void)
{
	for (int i = 0; i < 3000; i++)
		sink += i;
}

KNOWN static void pushing(void)
{
	((made_fn *)made_of(made_pushes))(callee);
	sink++;
}

KNOWN static void moving(void)
{
	((made_fn *)made_of(made_moves))(callee);
	sink++;
}

KNOWN static void in_parts(void)
{
	((made_fn *)made_of(made_parts))(callee);
	sink++;
}

KNOWN static void once(void)
{
	pushing();
	moving();
	in_parts();
	jumping(callee, made_of(made_jumps));
	sink++;
}

/* In reach of a jump to this program. */
static int make(void)
{
	int32_t to;

	code = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1,
		    0);
	if (code == MAP_FAILED)
		return -1;
	memcpy(code, made_begin, (size_t)(made_end - made_begin));
	to = (int32_t)(jumped_back - ((uint8_t *)made_of(made_jumps_to) + 4));
	memcpy(made_of(made_jumps_to), &to, sizeof(to));
	return mprotect(code, 4096, PROT_READ | PROT_EXEC);
}

int main(int argc, char **argv)
{
	const time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 1);

	if (make() < 0) {
		perror("made");
		return 1;
	}
	while (time(NULL) < end)
		for (int i = 0; i < 100; i++)
			once();
	return 0;
}
