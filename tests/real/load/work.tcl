# SPDX-License-Identifier: Apache-2.0
proc fib {n} { if {$n < 2} { return $n }; expr {[fib [expr {$n - 1}]] + [fib [expr {$n - 2}]]} }

while 1 {
	fib 16
	set words {}
	for {set i 0} {$i < 4000} {incr i} { lappend words [expr {$i * 7919 % 10007}] }
	regexp -all -inline {(\d+)7} [join [lsort $words] " "]
}
