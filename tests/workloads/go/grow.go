// SPDX-License-Identifier: Apache-2.0

// usage: grow SECONDS
// Goroutines that do nothing but make their stacks grow: most samples are in the runtime, on a thread's own stack.
package main

import (
	"fmt"
	"os"
	"strconv"
	"time"
)

//go:noinline
func grow(n int, x byte) byte {
	var room [256]byte
	room[n%256] = x
	if n == 0 {
		return room[x]
	}
	return grow(n-1, room[n%256]) + room[0]
}

//go:noinline
func one(done chan byte) { done <- grow(400, 3) }

func main() {
	seconds, err := strconv.ParseFloat(os.Args[1], 64)
	if err != nil {
		os.Exit(2)
	}
	end := time.Now().Add(time.Duration(seconds * float64(time.Second)))
	done := make(chan byte)
	fmt.Println("ready")
	for time.Now().Before(end) {
		go one(done)
		go one(done)
		<-done
		<-done
	}
}
