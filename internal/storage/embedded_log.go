package storage

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"syscall"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

// fatal is what etcd does when it cannot go on: it says so at a level of its log that is
// meant to end the process, in whatever goroutine it happens to be.
//
// While it starts, that is made an error, for a disk that is full is nothing that anybody
// should read a stack trace for. Later there is nobody who could return one: data cannot be
// written any more, and the process ends.
type fatal struct {
	directory string

	mu      sync.Mutex
	started bool
	// failed gets the first reason while etcd starts.
	failed chan error
}

func newFatal(directory string) *fatal {
	return &fatal{directory: directory, failed: make(chan error, 1)}
}

// start marks the end of the start.
func (f *fatal) start() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.started = true
}

// OnWrite is called in place of the end of the process. The goroutine that calls it must
// not go on; what it has deferred could only fail.
func (f *fatal) OnWrite(entry *zapcore.CheckedEntry, fields []zapcore.Field) {
	f.mu.Lock()
	started, err := f.started, reason(entry.Message, fields)
	if !started {
		select {
		case f.failed <- err:
		default:
		}
	}
	f.mu.Unlock()
	if started {
		_, _ = fmt.Fprintf(os.Stderr, "error: the embedded etcd in %s cannot go on: %v\n", f.directory, err)
		if _, ofSystem := errors.AsType[syscall.Errno](err); !ofSystem {
			// A mistake in a program, whose place is of interest.
			_, _ = os.Stderr.Write(debug.Stack())
		}
		os.Exit(1)
	}
	select {}
}

// reason returns what etcd says, with the error that it says it of.
func reason(message string, fields []zapcore.Field) error {
	for _, field := range fields {
		if err, ok := field.Interface.(error); ok && field.Type == zapcore.ErrorType {
			return fmt.Errorf("%s: %w", message, err)
		}
	}
	return errors.New(message)
}

// logger lets through only what etcd says before it ends the process. Its errors
// reach the caller as errors; what it says of its ordinary life (on a fresh directory
// also at level error) tells a user of workspaces nothing.
func (f *fatal) logger() *zap.Logger {
	return zap.New(zapcore.NewNopCore(), zap.WithPanicHook(f), zap.WithFatalHook(f))
}
