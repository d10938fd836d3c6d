// SPDX-License-Identifier: Apache-2.0
/* Who has woken a thread, by the kernel's frames where BPF could not tell. */
#include "test.h"

#include <string.h>

#include "symbolize/waits/waker.h"

#define MOST 16

static struct profile profile;

static int begin(void **state)
{
	(void)state;
	profile_init(&profile);
	return 0;
}

static int end(void **state)
{
	(void)state;
	profile_release(&profile);
	return 0;
}

/* TEXT has the kernel's frames, leaf first, with blanks between; main() below them. A '-' has no name. */
static uint32_t stack_of(const char *text)
{
	struct profile_frame frame = { .kind = FRAME_KERNEL, .mapping = PROFILE_NONE };
	char copy[512], *save;
	uint32_t frames[MOST], len = 0;

	snprintf(copy, sizeof(copy), "%s", text);
	for (char *name = strtok_r(copy, " ", &save); name; name = strtok_r(NULL, " ", &save)) {
		frame.name = profile_string(&profile, strcmp(name, "-") ? name : "");
		frame.address = 0x1000 + len;
		frames[len++] = profile_frame(&profile, &frame);
	}
	frame.kind = FRAME_NATIVE;
	frame.name = profile_string(&profile, "main");
	frames[len++] = profile_frame(&profile, &frame);
	return profile_stack(&profile, frames, len);
}

static bool is_thread(const char *text)
{
	return waker_is_thread(&profile, stack_of(text), WIRE_WAKER_UNSURE);
}

static void what_is_known_is_not_asked(void **state)
{
	(void)state;
	assert_true(waker_is_thread(&profile,
				    stack_of("hrtimer_wakeup asm_sysvec_apic_timer_interrupt"),
				    WIRE_WAKER_THREAD));
	assert_false(waker_is_thread(&profile, stack_of("futex_wake do_syscall_64"),
				     WIRE_WAKER_INTERRUPT));
}

static void interrupts(void **state)
{
	(void)state;
	assert_false(is_thread("hrtimer_wakeup sysvec_apic_timer_interrupt "
			       "asm_sysvec_apic_timer_interrupt do_syscall_64"));
	assert_false(is_thread("sock_def_readable net_rx_action handle_softirqs irq_exit_rcu "
			       "common_interrupt asm_common_interrupt do_syscall_64"));
	/* What the thread has sent arrives as an interrupt ends. */
	assert_false(is_thread("sock_def_readable process_backlog net_rx_action handle_softirqs "
			       "asm_sysvec_call_function_single do_syscall_64"));
	/* Of somebody else, while the thread was kept from it. */
	assert_false(is_thread("sock_def_readable virtnet_poll net_rx_action __do_softirq "
			       "do_softirq __local_bh_enable_ip do_syscall_64"));
}

static void threads(void **state)
{
	(void)state;
	assert_true(is_thread("sock_def_readable tcp_rcv_established process_backlog "
			      "net_rx_action handle_softirqs do_softirq __local_bh_enable_ip "
			      "tcp_sendmsg do_syscall_64"));
	assert_true(is_thread("sock_def_readable net_rx_action handle_softirqs run_ksoftirqd "
			      "kthread"));
	/* Where the preempt count is not known. */
	assert_true(is_thread("wake_up_q futex_wake do_syscall_64"));
	assert_true(is_thread("wake_up_q handle_mm_fault asm_exc_page_fault"));
}

static void without_names(void **state)
{
	(void)state;
	assert_false(is_thread("- - -"));
	assert_false(is_thread(""));
}

static uint32_t len_of(const char *text)
{
	return profile_get_stack(&profile, waker_interrupt_stack(&profile, stack_of(text))).len;
}

/* Neither the kernel's frames nor those of the program that it came over. */
static void an_interrupts_own_frames(void **state)
{
	(void)state;
	assert_int_equal(len_of("a b asm_sysvec_apic_timer_interrupt c do_syscall_64"), 3);
	assert_int_equal(len_of("a asm_common_interrupt"), 2);
	assert_int_equal(len_of("a asm_common_interrupt b asm_exc_page_fault"), 2);
	assert_int_equal(len_of("a b c"), 3);
	assert_int_equal(len_of(""), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(what_is_known_is_not_asked, begin, end),
		cmocka_unit_test_setup_teardown(interrupts, begin, end),
		cmocka_unit_test_setup_teardown(threads, begin, end),
		cmocka_unit_test_setup_teardown(without_names, begin, end),
		cmocka_unit_test_setup_teardown(an_interrupts_own_frames, begin, end),
	};

	return cmocka_run_group_tests_name("waker", tests, NULL, NULL);
}
