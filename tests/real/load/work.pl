# SPDX-License-Identifier: Apache-2.0
use strict;
use warnings;

sub fib { my $n = shift; return $n < 2 ? $n : fib($n - 1) + fib($n - 2) }

while (1) {
    fib(18);
    my @words = sort { reverse($a) cmp reverse($b) } map { $_ * 7919 % 10007 } 0 .. 4000;
    my %length = map { $_ => length } @words;
    my $text = join " ", @words;
    my $count = () = $text =~ /(\d+)7/g;
}
