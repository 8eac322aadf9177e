// SPDX-License-Identifier: MIT
//
// Parses pprof files with pprof's own parser and checks them.
// Runs in: tests.
package main

import (
	"fmt"
	"os"

	"github.com/google/pprof/profile"
)

func check(name string) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	parsed, err := profile.Parse(file)
	if err != nil {
		return err
	}
	return parsed.CheckValid()
}

func main() {
	for _, name := range os.Args[1:] {
		if err := check(name); err != nil {
			fmt.Fprintln(os.Stderr, name, err)
			os.Exit(1)
		}
	}
}
