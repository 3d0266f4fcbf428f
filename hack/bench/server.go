//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"k8s.io/client-go/tools/clientcmd"
)

const (
	startTimeout = time.Minute
	startPoll    = 2 * time.Millisecond

	// Memory is settled when it has not shrunk or grown by more than a hundredth for
	// this long.
	settledFor    = 3 * time.Second
	settleTimeout = 45 * time.Second
	settlePoll    = 250 * time.Millisecond
)

// server is a server in a process of its own.
type server struct {
	settings
	root  string
	url   string
	cmd   *exec.Cmd
	log   *lineCounter
	ready time.Duration
	// admin may do what users may, shardAdmin everything.
	admin, shardAdmin *client
	// stopped is closed when the process has ended.
	stopped chan struct{}
}

// startServer starts a server on root and returns when it is ready.
func startServer(ctx context.Context, s settings, root string) (*server, error) {
	port, err := freePort(ctx)
	if err != nil {
		return nil, err
	}
	url := "https://127.0.0.1:" + port
	args := append([]string{"start", "--root-directory=" + root, "--bind-address=127.0.0.1", "--secure-port=" + port}, s.flags...)
	cmd := exec.Command(s.server, args...) //nolint:noctx,gosec // because it is stopped with a signal of our choice
	log := &lineCounter{}
	cmd.Stdout, cmd.Stderr = log, log
	srv := &server{settings: s, root: root, url: url, cmd: cmd, log: log, stopped: make(chan struct{})}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = cmd.Wait() // How it ended is of no interest, only that it did.
		close(srv.stopped)
	}()
	if err := srv.waitReady(ctx); err != nil {
		srv.kill()
		return nil, fmt.Errorf("starting %s: %w\n%s", s.server, err, log.last())
	}
	srv.ready = time.Since(began)
	if srv.admin, err = srv.newClient("root"); err == nil {
		srv.shardAdmin, err = srv.newClient("shard-base")
	}
	if err != nil {
		srv.kill()
		return nil, err
	}
	return srv, nil
}

// freshServer starts a server on a new directory; done stops it and removes the
// directory.
func freshServer(ctx context.Context, s settings) (srv *server, done func(), err error) {
	root, err := os.MkdirTemp("", "kcp-bench-")
	if err != nil {
		return nil, nil, err
	}
	srv, err = startServer(ctx, s, root)
	if err != nil {
		_ = os.RemoveAll(root)
		return nil, nil, err
	}
	return srv, func() {
		srv.kill()
		_ = os.RemoveAll(root)
	}, nil
}

// withServer has do measure a server on a new directory. What do leaves running ends with
// its context, before the server does.
func withServer(ctx context.Context, s settings, do func(context.Context, *server) error) error {
	srv, done, err := freshServer(ctx, s)
	if err != nil {
		return err
	}
	defer done()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	return do(ctx, srv)
}

// stop lets the server shut down.
func (s *server) stop() { s.end(syscall.SIGTERM) }

// kill ends the server at once.
func (s *server) kill() { s.end(syscall.SIGKILL) }

func (s *server) end(signal os.Signal) {
	_ = s.cmd.Process.Signal(signal)
	<-s.stopped
}

func (s *server) waitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	// The certificate may not exist yet, and nothing secret is sent.
	probe := newTransport(nil, true, false)
	defer probe.CloseIdleConnections()
	poll := time.NewTicker(startPoll)
	defer poll.Stop()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.url+"/readyz", nil)
		if err != nil {
			return err
		}
		response, err := probe.RoundTrip(request)
		if err == nil {
			_, _ = io.Copy(io.Discard, response.Body)
			_ = response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-s.stopped:
			return errors.New("the server has ended")
		case <-ctx.Done():
			return ctx.Err()
		case <-poll.C:
		}
	}
}

func (s *server) newClient(kubeContext string) (*client, error) {
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		&clientcmd.ClientConfigLoadingRules{ExplicitPath: filepath.Join(s.root, "admin.kubeconfig")},
		&clientcmd.ConfigOverrides{CurrentContext: kubeContext}).ClientConfig()
	if err != nil {
		return nil, fmt.Errorf("reading context %s: %w", kubeContext, err)
	}
	return newClient(s.url, config.BearerToken, config.CAData, s.http1)
}

// settledMemory returns the resident memory once it has come to rest after a garbage
// collection.
func (s *server) settledMemory(ctx context.Context) (int, error) {
	// Asking for a heap profile this way collects garbage first.
	if _, err := s.shardAdmin.do(ctx, http.MethodGet, "/debug/pprof/heap?gc=1", "", nil); err != nil {
		return 0, err
	}
	var reference int
	since, deadline := time.Now(), time.Now().Add(settleTimeout)
	poll := time.NewTicker(settlePoll)
	defer poll.Stop()
	for {
		now, err := resident(s.cmd.Process.Pid)
		if err != nil {
			return 0, err
		}
		if difference := now - reference; max(difference, -difference) > reference/100 {
			reference, since = now, time.Now()
		}
		if time.Since(since) > settledFor || time.Now().After(deadline) {
			return now, nil
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-poll.C:
		}
	}
}

var goroutines = regexp.MustCompile(`goroutine profile: total (\d+)`)

func (s *server) goroutines(ctx context.Context) (int, error) {
	body, err := s.shardAdmin.do(ctx, http.MethodGet, "/debug/pprof/goroutine?debug=1", "", nil)
	if err != nil {
		return 0, err
	}
	match := goroutines.FindSubmatch(body)
	if match == nil {
		return 0, errors.New("the server does not say how many goroutines it has")
	}
	return strconv.Atoi(string(match[1]))
}

// heap returns the live heap in bytes.
func (s *server) heap(ctx context.Context) (int, error) {
	body, err := s.shardAdmin.do(ctx, http.MethodGet, "/debug/pprof/heap?gc=1&debug=1", "", nil)
	if err != nil {
		return 0, err
	}
	_, rest, ok := strings.Cut(string(body), "\n# HeapAlloc = ")
	line, _, _ := strings.Cut(rest, "\n")
	if !ok {
		return 0, errors.New("the server does not say how large its heap is")
	}
	return strconv.Atoi(line)
}

// profile writes a profile of the server to a file, if profiles were asked for.
func (s *server) profile(ctx context.Context, name, path string) {
	if s.profiles == "" {
		return
	}
	body, err := s.shardAdmin.do(ctx, http.MethodGet, path, "", nil)
	if err == nil {
		err = os.WriteFile(filepath.Join(s.profiles, name), body, 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "profile:", err)
	}
}

func freePort(ctx context.Context) (string, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer listener.Close() //nolint:errcheck // because only its number was wanted
	_, port, err := net.SplitHostPort(listener.Addr().String())
	return port, err
}

// lineCounter counts the lines of a log and keeps the last of it.
type lineCounter struct {
	mu    sync.Mutex
	lines int
	tail  []byte
}

// Write counts the lines in p.
func (c *lineCounter) Write(p []byte) (int, error) {
	const keep = 2000
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lines += bytes.Count(p, []byte("\n"))
	c.tail = append(c.tail, p...)
	c.tail = c.tail[max(len(c.tail)-keep, 0):]
	return len(p), nil
}

func (c *lineCounter) count() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.lines
}

func (c *lineCounter) last() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return string(c.tail)
}
