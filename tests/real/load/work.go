// SPDX-License-Identifier: Apache-2.0

// Calls, allocation and collection, goroutines that hand over, stacks that grow.
package main

import (
	"encoding/json"
	"fmt"
	"sort"
	"strings"
)

func fib(n int) int {
	if n < 2 {
		return n
	}
	return fib(n-1) + fib(n-2)
}

func deep(n int) int {
	var room [64]int
	if n == 0 {
		return 0
	}
	room[n%64] = n
	return deep(n-1) + room[n%64]
}

func words() []string {
	var list []string
	for i := 0; i < 4000; i++ {
		list = append(list, fmt.Sprint(i*7919%10007))
	}
	sort.Strings(list)
	return list
}

func worker(in chan []string, out chan int) {
	for list := range in {
		text, _ := json.Marshal(list)
		done := make(chan int)
		go func() { done <- deep(300) }()
		out <- len(strings.Split(string(text), "7")) + fib(18) + <-done
	}
}

func main() {
	in, out := make(chan []string), make(chan int)
	for i := 0; i < 4; i++ {
		go worker(in, out)
	}
	for sum := 0; ; {
		select {
		case in <- words():
		case n := <-out:
			sum += n
		}
	}
}
