// SPDX-License-Identifier: Apache-2.0

// usage: calls SECONDS
// Every sample is below a goroutine's start; main.burn() says which functions it is inlined into.
package main

import (
	"fmt"
	"os"
	"strconv"
	"time"
)

var sink uint64

type shape interface{ turn(rounds int) uint64 }
type square struct{ seed uint64 }

// Inlined into spin(), which is inlined into middle().
func mix(x uint64) uint64 {
	x ^= x << 13
	x ^= x >> 7
	x ^= x << 17
	return x
}

func spin(x uint64, rounds int) uint64 {
	for i := 0; i < rounds; i++ {
		x = mix(x)
	}
	return x
}

//go:noinline
func middle(rounds int) uint64 {
	return spin(uint64(rounds)|1, rounds)
}

//go:noinline
func (s *square) turn(rounds int) uint64 {
	return s.seed + middle(rounds)
}

//go:noinline
func generic[T int | uint64](rounds T) uint64 {
	return middle(int(rounds))
}

//go:noinline
func outer(s shape, rounds int) uint64 {
	run := func() uint64 { return s.turn(rounds) + generic(rounds) }
	return call(run)
}

//go:noinline
func call(run func() uint64) uint64 { return run() }

//go:noinline
func work(end time.Time) {
	s := &square{1}
	for time.Now().Before(end) {
		sink += outer(s, 20000)
	}
}

func main() {
	seconds, err := strconv.ParseFloat(os.Args[1], 64)
	if err != nil {
		os.Exit(2)
	}
	end := time.Now().Add(time.Duration(seconds * float64(time.Second)))
	fmt.Println("ready")
	go work(end)
	work(end)
}
