# SPDX-License-Identifier: Apache-2.0
# usage: perl working.pl SECONDS
# Hashes, regular expressions, sort with a comparison of its own, recursion.
use strict;
use warnings;

sub depth {
	my ($left) = @_;
	return $left == 0 ? 0 : 1 + depth($left - 1);
}

sub work {
	my %count;
	for my $i (1 .. 20000) {
		$count{ ($i * 7919) % 1009 }++;
	}
	my $text = join ",", sort { $count{$a} <=> $count{$b} || $a <=> $b } keys %count;
	$text =~ s/([0-9]+)/<$1>/g;
	my @parts = map { length } split /,/, $text;
	return depth(80) + @parts;
}

my $end = time + $ARGV[0];
work() while time < $end;
