#!/bin/busybox sh
# SPDX-License-Identifier: Apache-2.0
# The first process of the guests that check-kernels.sh boots: tries hostprof on the kernel it runs on
# and writes a line per test to the second serial port, output of the programs to the first.
# The tests are called by name.
# shellcheck shell=dash disable=SC2317

out=/tmp/out.collapsed
result=/dev/ttyS1

# expect PATTERN FILE [LEAST]: at least LEAST (1) samples of stacks that match. An emulator on a busy
# host is slow: ask for a fifth of what an idle one brings.
expect() {
	local n

	n=$(grep -E -- "$1" "$2" | awk '{ n += $NF } END { printf "%d", n }')
	[ "$n" -ge "${3:-1}" ] && return
	echo "$n of $2 are of '$1', not ${3:-1}" | tee /tmp/why
	cat /tmp/profile.log "$2"
	return 1
}

# profile ARG…: a recording, and its stacks in $out
profile() {
	hostprof record --annotate -F 199 -o "$out" "$@" >/tmp/profile.log 2>&1
	r=$?
	[ $r -eq 0 ] || tail -n 2 /tmp/profile.log | tee /tmp/why
	return $r
}

# busy COMMAND…: what COMMAND writes goes to the console
busy() {
	"$@" >/dev/ttyS0 2>&1 &
	busy=$!
}

finds_all_it_needs() {
	hostprof doctor | tee /tmp/doctor
	! grep "^fail" /tmp/doctor >/tmp/why
}

samples_a_command() {
	hostprof record -d 2 -F 199 -o /tmp/x.jfr --stats /tmp/stats -- burn 1 >/tmp/burn.log || return 1
	hostprof report /tmp/x.jfr -f collapsed -o "$out" || return 1
	expect ';main;level_one;level_two;level_three( |;)' "$out" 40
}

# A guest that the host keeps waiting for more than 100 ms has a gap (sample/tick.h); its clock ran on.
adds_up_to_its_cpu_time() {
	clock=$(awk '$1 == "cpu_ns" { print $2 }' /tmp/burn.log)
	gaps=$(awk '$1 == "\"gap_ns\":" { printf "%.0f", $2 }' /tmp/stats)
	hostprof report /tmp/x.jfr --total -f collapsed -o "$out" || return 1
	sampled=$(awk '/^burn-/ { n += $NF } END { printf "%.0f", n }' "$out")
	echo "burn: $clock ns by its clock, $sampled ns sampled, $gaps ns of gaps" | tee /tmp/why
	[ "$((sampled * 100))" -lt "$((clock * 110))" ] &&
		[ "$(((sampled + gaps) * 100))" -gt "$((clock * 90))" ]
}

follows_the_children() {
	profile -d 30 -- sh -c 'sh -c "burn 1; true"; true' &&
		expect '^burn-.*;level_three( |;)' "$out" 40
}

names_kernel_functions() {
	busy dd if=/dev/zero of=/dev/null bs=64k
	profile -a -d 1
	r=$?
	kill $busy
	[ $r -eq 0 ] && expect 'do_syscall_64_\[k\];.*;vfs_read_\[k\];.*read_zero_\[k\]' "$out" 10
}

# Every 64th page fault and every 16th context switch is a sample.
samples_other_events() {
	echo never >/sys/kernel/mm/transparent_hugepage/enabled
	profile -e page-faults -- dd if=/dev/zero of=/dev/null bs=16M count=1 &&
		expect '^dd-.*;read_zero_\[k\]' "$out" 10 || return 1
	profile -e context-switches -- sh -c 'dd if=/dev/zero bs=64k count=1000 | cat >/dev/null' &&
		expect 'schedule_\[k\]' "$out" 5
}

# stacks_of_calls EVENT STACK: each sample of it in the recording of samples_calls_and_returns()
stacks_of_calls() {
	hostprof report /tmp/calls.jfr --event "$1" -f collapsed -o "$out" || return 1
	grep '^burn-' "$out" | grep -Ev "^burn-[0-9]+;_start;.*;main;$2 [0-9]+\$" >/tmp/others
	[ -s /tmp/others ] && head -n 1 /tmp/others | tee /tmp/why && return 1
	expect ";main;$2 " "$out" 20
}

# Also where the return addresses of callers are those of the kernel's trampoline.
samples_calls_and_returns() {
	hostprof record -e uprobe:/bin/burn:level_three -e uretprobe:/bin/burn:level_two \
		-e uretprobe:/bin/burn:level_three -o /tmp/calls.jfr -d 30 -- burn 1 >/tmp/why 2>&1 &&
		stacks_of_calls uprobe:/bin/burn:level_three 'level_one;level_two;level_three' &&
		stacks_of_calls uretprobe:/bin/burn:level_three 'level_one;level_two'
}

# What was not freed: by sessions of uprobes, or by probes of each return. The first stacks may be cut short in a slow guest.
follows_native_memory() {
	hostprof record -e malloc=0 --live -o /tmp/x.jfr -d 60 -- \
		sh -c '(sleep 5; echo) | mallocs leak 100' >/tmp/why 2>&1 || return 1
	hostprof report /tmp/x.jfr --event malloc-live --total -f collapsed -o "$out" || return 1
	bytes=$(awk '/^mallocs-.*;by_keeping;malloc [0-9]+$/ { n += $NF } END { printf "%d", n }' "$out")
	echo "$bytes bytes of 2500000 are kept" | tee /tmp/why
	[ "$bytes" -ge 2400000 ] && [ "$bytes" -le 2500000 ] && ! grep -E ';by_(dropping|moving);' "$out"
}

samples_tracepoints() {
	mount -t tracefs tracefs /sys/kernel/tracing || return 77
	profile -e sched:sched_switch -- sh -c 'dd if=/dev/zero bs=64k count=1000 | cat >/dev/null' &&
		expect 'schedule_\[k\]' "$out" 100
	r=$?
	umount /sys/kernel/tracing
	return $r
}

# waited REASON: for three seconds, and not much more, however late an emulator is
waited() {
	ms=$(awk -v reason=";[$1] " 'index($0, reason) { n += $NF } END { printf "%.0f", n / 1000000 }' "$out")
	echo "$1: $ms ms of 3000" | tee /tmp/why
	[ "$ms" -ge 2950 ] && [ "$ms" -le 3600 ]
}

samples_waits() {
	profile --total -e offcpu -d 30 -- sh -c 'sleep 3 | cat' && waited sleep && waited 'pipe read'
}

# In a slow guest who is to find the lock taken may come too late.
samples_native_locks() {
	profile -e nativelock -d 60 -- sh -c '(sleep 5; echo; sleep 20; echo) | native_locks 20' || return 1
	expect '^native_locks-.*;outer_mutex;pthread_mutex_lock.*;\[mutex\]' "$out" 5 &&
		expect ';outer_rwlock;pthread_rwlock_rdlock.*;\[rwlock\]' "$out" 5 && ! grep -E 'outer_(condition|semaphore|barrier|join)' "$out"
}

# Of threads that read at one place of a file whoever comes second waits for its mutex.
samples_kernel_locks() {
	hostprof list events | grep -q '^  kernellock[^ ]* *nanoseconds' || return 77
	profile -e kernellock=0 -d 60 -- sh -c '(sleep 5; echo) | kernel_locks /tmp/place 20000 storm' &&
		expect '^kernel_locks-.*;storm;.*fdget_pos_\[k\].*;\[mutex\]' "$out" 20
}

# woken REASON WAKER: whose frames, from the leaf to its name, are those
woken() {
	grep -qE ";\[$1\];\[woken by\];.*$2 [0-9]+\$" "$out" && return
	grep -F ";[$1]" "$out" >/tmp/why || echo "no $1" >/tmp/why
	return 1
}

# The timer's interrupt is no thread; a pipe is closed by who exits.
knows_wakers() {
	profile --total -e offcpu --waker -d 30 -- sh -c 'sleep 3 | cat' &&
		woken sleep 'hrtimer_wakeup_\[k\];.*;\[interrupt\]' &&
		woken 'pipe read' 'do_exit_\[k\];.*;\[sleep tid=[0-9]+\];[^;]*'
}

# It was asleep before.
samples_wall_clock() {
	sleep 60 &
	asleep=$!
	sleep 1
	profile --total -p $asleep -e wall -d 3
	r=$?
	kill $asleep
	[ $r -eq 0 ] && waited sleep
}

# Kernels that hostprof is developed on may have none.
samples_kernel_functions() {
	[ -e /sys/bus/event_source/devices/kprobe ] || return 77
	profile -e kprobe:vfs_read -e kretprobe:vfs_read -- dd if=/dev/zero of=/dev/null bs=1k count=500 || return 1
	grep '^dd-' "$out" | grep -v ';vfs_read_\[k\] [0-9]*$' >/tmp/why && return 1
	expect '^dd-.*;ksys_read_\[k\];vfs_read_\[k\] ' "$out" 500
}

# Writes and reads of a variable, at an address of a program that is not moved; a breakpoint is on each cpu.
samples_breakpoints() {
	busy burn 60
	profile -p $busy -d 1 -e mem:sink/8:w
	r=$?
	kill $busy
	[ $r -eq 0 ] && expect ';main;level_one(;level_two(;level_three)?)?( |_)' "$out" 10
}

samples_a_cgroup() {
	mkdir -p /sys/fs/cgroup/test
	busy burn 60
	echo $busy >/sys/fs/cgroup/test/cgroup.procs
	profile --cgroup /sys/fs/cgroup/test -d 1
	r=$?
	kill $busy
	[ $r -eq 0 ] && expect ';level_three' "$out" 20 && ! grep -v '^burn-' "$out" >/tmp/why
}

# record_as_user ARG…: with the capabilities that README.md lists and no others
record_as_user() {
	cp /bin/hostprof /tmp/hostprof
	setcap "cap_bpf,cap_perfmon,cap_sys_ptrace,cap_syslog,cap_checkpoint_restore+ep" /tmp/hostprof
	mkdir -p /etc
	echo 'user:x:1000:1000::/tmp:/bin/sh' >/etc/passwd
	su user -c "/tmp/hostprof record $*" >/tmp/why 2>&1
}

# Debian's and Ubuntu's kernels have levels above 2, which ask for cap_sys_admin.
explains_perf_event_paranoid() {
	[ -x /bin/setcap ] || return 77
	echo 3 >/proc/sys/kernel/perf_event_paranoid
	record_as_user -a -d 1 -o /tmp/user.jfr
	[ $? -eq 3 ] && grep -q 'perf_event_paranoid=2' /tmp/why
}

needs_no_more_than_its_capabilities() {
	[ -x /bin/setcap ] || return 77
	echo 2 >/proc/sys/kernel/perf_event_paranoid
	busy dd if=/dev/zero of=/dev/null bs=64k
	record_as_user -a -d 1 -F 199 --annotate -o /tmp/user.collapsed
	r=$?
	kill $busy
	[ $r -eq 0 ] && expect 'dd-.*;\[busybox\+.*;do_syscall_64_\[k\];.*;vfs_read_\[k\]' /tmp/user.collapsed 10
}

# ready FILE: until it says so, or a minute
ready() {
	for _ in $(seq 60); do
		grep -q ready "$1" && return
		kill -0 "$busy" 2>/tmp/why || return 1
		sleep 1
	done
	return 1
}

# G1, which a host this small would not get by itself, leaves debug info in the inlined inner loop.
# A JVM has died once of SIGSEGV at the first byte of new code while nothing was recorded, and in 66
# more runs, recorded or not, none: emulated cpus may see code late that another one wrote. Such a
# guest gets a second JVM, and says so.
start_java() {
	for _ in 1 2; do
		/java/bin/java -Xmx64m -XX:+UseG1GC -cp /java "$@" </dev/null >/tmp/java.log 2>&1 &
		busy=$!
		ready /tmp/java.log && sleep 5 && return
		cat /tmp/java.log
		echo "# a JVM died before any recording, or never began" >$result
	done
	return 1
}

names_java_methods() {
	[ -d /java ] || return 77
	start_java Chain 120 || return 1
	profile --agent=always -p "$busy" -d 4
	r=$?
	kill "$busy"
	[ $r -eq 0 ] && expect ';Chain.run_.*;Chain.first_.*;Chain.burn_' "$out" 40
}

# The agent comes for it, which takes an emulator a while; the class is the leaf, but for who lets go of it.
samples_locks() {
	[ -d /java ] || return 77
	start_java Locks 100000 || return 1
	profile -e lock --waker -p "$busy" -d 25
	r=$?
	kill "$busy"
	[ $r -eq 0 ] && expect ';Locks.enterGate_.*;Locks.passGate_[^;]*;Locks.Gate' "$out" 10 &&
		expect ';Locks.waitForAlarm_.*;Locks.Alarm' "$out" 10 &&
		expect ';Locks.Gate_[^;]*;\[woken by\];.*;Locks.holdGate_.*;\[holder tid=' "$out" 10
}

# --- native stacks: these programs are compiled without frame pointers --------------------------

# What begins every stack of a program's first thread.
first='^uw-[a-z]*-[0-9]+;_start;[^;]+;[^;]+;main'
# What may follow the last frame: kernel frames, and the count.
last='(;[^;]*_\[k\])* [0-9]+$'

# whole NAME STACK [LEAST]: every stack that holds NAME is STACK, from the thread's first frame to the
# last; there are LEAST (20) samples of it.
whole() {
	if grep -F -- "$1" "$out" | grep -Ev -- "$2" >/tmp/others; then
		echo "not whole: $(head -n 1 /tmp/others)" | tee /tmp/why
		cat /tmp/others
		return 1
	fi
	expect "$2" "$out" "${3:-20}"
}

# No stack of these programs was left unfinished. In execve() and exit() there are no user registers;
# and no call frame information has the functions of crtbegin.o (GCC compiles them without) and the
# system call in clone3() (glibc ends it there, since it would be wrong for the new thread).
finished() {
	grep '^uw-' "$out" | grep -F '[unwind: ' | grep -Fv '[unwind: no-user-registers]' |
		grep -Ev '\];((de)?register_tm_clones|frame_dummy)( |;)|_sys_clone3_\[k\]' >/tmp/others ||
		return 0
	echo "unfinished: $(head -n 1 /tmp/others)" | tee /tmp/why
	cat /tmp/others
	return 1
}

unwinds_a_program_whole() {
	profile -d 30 -- uw-chain 2 && finished &&
		whole ';chain_' "$first;chain_one(;chain_two(;chain_three)?)?$last"
}

unwinds_a_static_program() {
	profile -d 30 -- uw-static 2 && finished &&
		whole ';chain_' "$first;chain_one(;chain_two(;chain_three)?)?$last"
}

unwinds_threads() {
	profile -d 30 -- uw-threads 2 && finished &&
		whole ';thread_long' "^uw-threads-[0-9]+;[^;]+;[^;]+;thread_long(;thread_work|(;[^;]*clock_gettime)+)?$last" &&
		whole ';thread_short' "^uw-threads-[0-9]+;[^;]+;[^;]+;thread_short(;thread_work)?$last" 10
}

# Between the interrupted code and the handler is the trampoline that the handler returns to.
unwinds_through_a_signal() {
	profile -d 30 -- uw-handled 2 && finished &&
		whole ';handler_burn' "^uw-handled-[0-9]+;_start;.*;[^;]+;handler;handler_burn$last" &&
		expect "$first;work_[a-z]+;(.*;)?[^;]+;handler;handler_burn$last" "$out" 10
}

unwinds_the_vdso() {
	profile -d 30 -- uw-calling 2 && finished && expect "$first;read_clock;.*vdso" "$out" 10 &&
		whole ';read_clock' "$first;read_clock(;[^;]+)*$last"
}

unwinds_forked_children() {
	profile -d 30 -- uw-brief forks 8 && finished &&
		whole ';brief_two' "$first(;make_children)?;make_child;go_on_as;brief_one;brief_two$last" 10
}

# As on a machine with Secure Boot. There is no way back from here.
samples_in_lockdown() {
	[ -e /sys/kernel/security/lockdown ] || return 77
	echo integrity >/sys/kernel/security/lockdown
	profile -d 30 -- burn 0.5 && expect 'level_three( |;)' "$out" 15
}

explains_what_lockdown_forbids() {
	[ -e /sys/kernel/security/lockdown ] || return 77
	echo confidentiality >/sys/kernel/security/lockdown
	hostprof record -d 1 -o /tmp/x.jfr >/tmp/why 2>&1
	[ $? -eq 3 ] && grep -q lockdown /tmp/why
}

# What the verifier had to look at, of each program of a recording that runs.
verified_instructions() {
	hostprof record -e cpu,offcpu -d 12 -o /tmp/x.jfr -- sleep 10 >/dev/null 2>&1 &
	sleep 8
	for info in "/proc/$!/fdinfo/"*; do
		awk '$1 == "prog_type:" { type = $2 } $1 == "verified_insns:" { n = $2 }
			END { if (n) printf " %s %d", type == 7 ? "sampler" : "tracepoint", n }' \
			"$info" 2>/dev/null
	done
	wait $!
}

# try NAME
try() {
	: >/tmp/why
	echo "--- $1"
	"$1"
	case $? in
	0) echo "ok $1" ;;
	77) echo "skip $1" ;;
	*) echo "FAIL $1: $(tail -n 1 /tmp/why)" ;;
	esac >$result
}

# Their programs are loaded, whoever tells of anything.
loads_what_jvms_tell() {
	hostprof record -e jit,classload,gc,safepoint -d 3 -o /tmp/x.jfr -- sleep 1 >/tmp/why 2>&1 || return 1
	grep -q 'no compilations were seen' /tmp/why && grep -q 'no loaded classes were seen' /tmp/why &&
		grep -q 'no collections were seen' /tmp/why
}

/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs dev /dev
mount -t tmpfs tmp /tmp
mount -t cgroup2 cgroup /sys/fs/cgroup
mount -t securityfs security /sys/kernel/security
ifconfig lo up
stty -F $result raw
echo "# $(uname -r), cpu: $(awk -F': ' '/^model name/ { print $2; exit }' /proc/cpuinfo)" >$result
try finds_all_it_needs
echo "# verified instructions:$(verified_instructions)" >$result
for name in samples_a_command adds_up_to_its_cpu_time follows_the_children names_kernel_functions \
	unwinds_a_program_whole unwinds_a_static_program unwinds_threads unwinds_through_a_signal \
	unwinds_the_vdso unwinds_forked_children \
	samples_other_events samples_calls_and_returns follows_native_memory samples_tracepoints samples_kernel_functions samples_breakpoints samples_waits samples_native_locks samples_kernel_locks knows_wakers samples_wall_clock samples_a_cgroup names_java_methods samples_locks loads_what_jvms_tell explains_perf_event_paranoid \
	needs_no_more_than_its_capabilities samples_in_lockdown explains_what_lockdown_forbids; do
	try $name
done
echo "# done" >$result
sync
poweroff -f
