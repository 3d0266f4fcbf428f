package ephemeral

import (
	"errors"
	"os"
	"slices"
	"strings"
	"sync"

	"k8s.io/klog/v2"

	"github.com/forkless/kcp/pkg/cli/kcp/start"
	"github.com/forkless/kcp/pkg/server/options"
)

// The logs in the directory of a run.
const (
	logName   = "kcp.log"
	auditFile = "audit.log"
)

// logFile is where the log of the process goes. What is logged when it is closed is lost:
// parts of a server that has stopped still have something to say, which nobody is to read.
type logFile struct {
	mu   sync.Mutex
	file *os.File
}

// openLog sends the log of the process to a file, with as much of it as was asked for, for
// as long as the process lives.
func openLog(path string, logging options.Logging) (*logFile, error) {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	l := &logFile{file: file}
	if _, err := start.LogTo(l, logging); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return l, nil
}

// Write appends to the file.
func (l *logFile) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return len(line), nil
	}
	return l.file.Write(line)
}

// Close closes the file.
func (l *logFile) Close() error {
	klog.Flush()
	l.mu.Lock()
	defer l.mu.Unlock()
	file := l.file
	l.file = nil
	return file.Close()
}

// auditPolicy logs who has asked for what and what came of it, but no content: there are
// secrets in that.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules:
- level: Metadata
`

// audits says whether the server writes an audit log: if it may be kept, unless it was told
// something else.
func (o *Options) audits() bool {
	return o.Keep != keepNever && !slices.ContainsFunc(o.ServerArgs, func(arg string) bool {
		return strings.HasPrefix(strings.TrimLeft(arg, "-"), "audit-")
	})
}
