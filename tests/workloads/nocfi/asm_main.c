/* SPDX-License-Identifier: Apache-2.0 */
/* Calls the functions of asm_calls.S, each from a function of its own: asm_main SECONDS */
#include <stdlib.h>
#include <time.h>

#define OWN   __attribute__((noinline, noclone))
#define STAYS __asm__ volatile("" ::: "memory")

static volatile unsigned int sink;

OWN void callee(void)
{
	for (unsigned int i = 0; i < 100; i++)
		sink += i * i;
	STAYS;
}

#define CALL(name)                               \
	void asm_##name(void (*function)(void)); \
	OWN void call_##name(void)               \
	{                                        \
		asm_##name(callee);              \
		STAYS;                           \
	}

CALL(plain)
CALL(framed)
CALL(realigned)
CALL(alloca)
CALL(enter)
CALL(moves)
CALL(jumps)
CALL(local)
CALL(tail)
CALL(leaf)

OWN void once(void)
{
	call_plain();
	call_framed();
	call_realigned();
	call_alloca();
	call_enter();
	call_moves();
	call_jumps();
	call_local();
	call_tail();
	call_leaf();
	STAYS;
}

int main(int argc, char **argv)
{
	time_t end = time(NULL) + (argc > 1 ? atoi(argv[1]) : 5);

	while (time(NULL) < end)
		for (int i = 0; i < 1000; i++)
			once();
	return 0;
}
