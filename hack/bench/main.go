//go:build linux

// Command bench measures a server and prints one table: how long it takes to start,
// how much memory it and its workspaces need, and how much it does per second.
//
// The server is the real binary in a process of its own, with a directory of its own,
// started anew for each section. The clients are goroutines of this program and share
// the machine with it. They send plain HTTP requests with JSON over TLS, without
// client-go, so that they take as little as possible of the processors that the server
// is measured on; each has a connection of its own, as separate clients would.
//
// Rates depend on what else the machine does. Each therefore comes with the processor
// time that one operation took, which does not, and with the share of the processors
// that this program and the server got together: far below 100 %, something else was
// running, or the disk was waited for.
//
// It needs Linux, because it reads /proc.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"syscall"
)

// settings are the flags.
type settings struct {
	server, plugin string
	// against is a server to compare with.
	against  string
	clients  int
	rounds   int
	scale    float64
	http1    bool
	profiles string
	// flags are given to the server besides those that it always gets.
	flags []string
}

func main() {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// section is a part of the table that can be run by itself.
type section struct {
	name string
	run  func(context.Context, settings, *table) error
}

// fresh makes a section of what measures a server that nobody has used yet.
func fresh(measure func(*server, context.Context, *table) error) func(context.Context, settings, *table) error {
	return func(ctx context.Context, s settings, t *table) error {
		return withServer(ctx, s, func(ctx context.Context, srv *server) error { return measure(srv, ctx, t) })
	}
}

var sections = []section{
	{"start", measureStart},
	{"run", measureRun},
	{"idle", fresh((*server).measureIdle)},
	{"workspaces", fresh((*server).measureWorkspaces)},
	{"trees", measureTrees},
	{"hooks", fresh((*server).measureHooks)},
	{"restart", measureRestart},
	{"workload-types", measureWorkloadTypes},
	{"definitions", fresh((*server).measureDefinitions)},
	{"bindings", fresh((*server).measureBindings)},
	{"consumers", fresh((*server).measureConsumers)},
	{"configmaps", fresh((*server).measureConfigMaps)},
	{"customresources", fresh((*server).measureCustomResources)},
	{"spread", fresh((*server).measureSpread)},
	{"cli", measureCLI},
	{"cli-tree", fresh((*server).measureCLITree)},
	{"compare", measureCompared},
}

func run(ctx context.Context, args []string) error {
	var s settings
	fs := flag.NewFlagSet("bench", flag.ExitOnError)
	fs.StringVar(&s.server, "server", "bin/kcp", "the server binary to measure")
	fs.StringVar(&s.against, "against", "", "another server binary, to compare the server with operation by operation in the section compare")
	fs.StringVar(&s.plugin, "kubectl-ws", "bin/kubectl-ws", "the kubectl plugin to measure")
	fs.IntVar(&s.clients, "clients", 8, "how many clients there are where the table says several")
	fs.IntVar(&s.rounds, "rounds", 3, "how often to repeat a measurement; the median is shown")
	fs.Float64Var(&s.scale, "scale", 1, "multiplies how many objects and workspaces are made, for a quick look")
	fs.BoolVar(&s.http1, "http1", false, "speak HTTP/1.1 instead of HTTP/2")
	fs.StringVar(&s.profiles, "profiles", "", "directory to write CPU and heap profiles of the server to")
	only := fs.String("only", ".", "regular expression of the sections to run")
	if err := fs.Parse(args); err != nil {
		return err
	}
	wanted, err := regexp.Compile(*only)
	if err != nil {
		return fmt.Errorf("reading --only: %w", err)
	}
	if s.profiles != "" {
		if err := os.MkdirAll(s.profiles, 0o755); err != nil {
			return err
		}
	}
	t := newTable(os.Stdout)
	for _, section := range sections {
		if !wanted.MatchString(section.name) {
			continue
		}
		if err := section.run(ctx, s, t); err != nil {
			return fmt.Errorf("measuring %s: %w", section.name, err)
		}
	}
	return nil
}

// times returns n at the scale of s.
func (s settings) times(n int) int { return max(int(float64(n)*s.scale), 1) }
