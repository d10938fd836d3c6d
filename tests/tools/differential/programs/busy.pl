# SPDX-License-Identifier: Apache-2.0
# Keeps perl busy for some seconds: recursion, hashes, sorting with a block, regular expressions.
use strict;
use warnings;
use Time::HiRes 'time';

sub grow { my ($depth, $key) = @_; return $depth ? [grow($depth - 1, 2 * $key), $key, grow($depth - 1, 2 * $key + 1)] : undef }
sub total { my ($tree) = @_; return $tree ? total($tree->[0]) + $tree->[1] + total($tree->[2]) : 0 }

sub words {
	my $text = join ' ', map { $_ * 7919 % 1000 } 1 .. 20000;
	my %counts;
	$counts{$_}++ for split /\s+/, $text;
	my @keys = sort { $counts{$a} <=> $counts{$b} || $a cmp $b } keys %counts;
	(my $swapped = $text) =~ s/(\d)(\d)/$2$1/g;
	return @keys + length $swapped;
}

my ($end, $result) = (time + ($ARGV[0] // 2), 0);
$result += total(grow(11, 1)) + words() while time < $end;
print "$result\n";
