//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// ticksPerSecond is the unit of processor times in /proc, the same on all Linux systems
// that Go runs on.
const ticksPerSecond = 100

// processorTime returns the processor time that a process has used.
func processorTime(pid int) (time.Duration, error) {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0, err
	}
	// The name of the program, in parentheses, may contain anything.
	_, rest, ok := strings.Cut(string(data), ") ")
	fields := strings.Fields(rest)
	const user, system = 11, 12
	if !ok || len(fields) <= system {
		return 0, fmt.Errorf("reading the processor time of process %d: unknown format", pid)
	}
	var ticks int
	for _, field := range []int{user, system} {
		n, err := strconv.Atoi(fields[field])
		if err != nil {
			return 0, err
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / ticksPerSecond, nil
}

// resident returns how much of a process is in memory, in bytes.
func resident(pid int) (int, error) { return status(pid, "VmRSS:") }

// residentFile returns how much of that are pages of files, which the kernel may drop: the
// binary, and the database of etcd.
func residentFile(pid int) (int, error) { return status(pid, "RssFile:") }

// status returns a size that the kernel tells of a process, in bytes.
func status(pid int, name string) (int, error) {
	data, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "status"))
	if err != nil {
		return 0, err
	}
	for line := range strings.Lines(string(data)) {
		if value, ok := strings.CutPrefix(line, name); ok {
			kilobytes, err := strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(value), "kB")))
			return kilobytes << 10, err
		}
	}
	return 0, fmt.Errorf("process %d does not say %s", pid, name)
}
