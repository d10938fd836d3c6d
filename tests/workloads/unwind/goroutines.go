// SPDX-License-Identifier: Apache-2.0

// usage: goroutines SECONDS
// Goroutines burn in main.worker -> main.outer -> main.inner, the first one below main.main; some
// work makes the runtime run on its own stacks.
package main

import (
	"fmt"
	"os"
	"strconv"
	"time"
)

var sink uint64

//go:noinline
func inner(rounds int) uint64 {
	x := uint64(rounds) | 1
	for i := 0; i < rounds; i++ {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
	}
	return x
}

//go:noinline
func outer(rounds int) uint64 {
	block := make([]uint64, 1000+rounds%7)
	block[0] = inner(rounds)
	return block[0] + uint64(len(block))
}

//go:noinline
func worker(end time.Time) {
	for time.Now().Before(end) {
		sink += outer(20000)
	}
}

func main() {
	seconds, err := strconv.ParseFloat(os.Args[1], 64)
	if err != nil {
		os.Exit(2)
	}
	end := time.Now().Add(time.Duration(seconds * float64(time.Second)))
	fmt.Println("ready")
	for i := 0; i < 3; i++ {
		go worker(end)
	}
	worker(end)
}
