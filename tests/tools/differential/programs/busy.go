// SPDX-License-Identifier: Apache-2.0

// A Go program that is busy for some seconds: recursion, maps, sorting, goroutines, system calls.
package main

import (
	"compress/gzip"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"
)

type tree struct {
	left, right *tree
	key         int
}

func grow(depth, key int) *tree {
	if depth == 0 {
		return nil
	}
	return &tree{grow(depth-1, 2*key), grow(depth-1, 2*key+1), key}
}

func (t *tree) sum() int {
	if t == nil {
		return 0
	}
	return t.key + t.left.sum() + t.right.sum()
}

func text(n int) string {
	var b strings.Builder
	for i := 0; i < n; i++ {
		b.WriteString(strconv.Itoa(i * 7919 % 1000))
		b.WriteByte(' ')
	}
	return b.String()
}

func words() int {
	counts := map[string]int{}
	for _, word := range strings.Fields(text(20000)) {
		counts[word]++
	}
	keys := make([]string, 0, len(counts))
	for key := range counts {
		keys = append(keys, key)
	}
	sort.Slice(keys, func(i, j int) bool { return counts[keys[i]] < counts[keys[j]] })
	encoded, _ := json.Marshal(counts)
	return len(encoded) + len(keys)
}

func packed() int {
	sum := sha256.New()
	zip := gzip.NewWriter(io.MultiWriter(sum, io.Discard))
	io.WriteString(zip, text(20000))
	zip.Close()
	return int(sum.Sum(nil)[0])
}

func main() {
	seconds := 2.0
	if len(os.Args) > 1 {
		seconds, _ = strconv.ParseFloat(os.Args[1], 64)
	}
	end := time.Now().Add(time.Duration(seconds * float64(time.Second)))
	total := 0
	for time.Now().Before(end) {
		var group sync.WaitGroup
		sums := make([]int, 4)
		for i := range sums {
			group.Add(1)
			go func() {
				defer group.Done()
				sums[i] = grow(12, 1).sum() + words() + packed()
			}()
		}
		group.Wait()
		total += sums[0]
	}
	fmt.Println(total)
}
