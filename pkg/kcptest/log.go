package kcptest

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/klog/v2"
)

// logVariable is the environment variable that has the log written to standard error.
const logVariable = "KCPTEST_LOG"

// maxLines bounds what is kept of the log of the process.
const maxLines = 2000

// lastWords is how long after the last recording libraries may say goodbye. What they have
// started for a server notices in its own time that there is no server any more.
const lastWords = 10 * time.Second

// partings are what is said then, as information, and dropped.
var partings = [][]byte{[]byte("hutting down"), []byte("topped"), []byte("topping"), []byte("exiting"), []byte("erminating")}

// recorder keeps the log of the process while somebody records. klog has one output for
// the whole process, and most of what Kubernetes logs does not say which server it is
// about, so there is one recorder. Once somebody has recorded it passes on to standard error
// what nobody records: the log is not put back, because klog does not tell whether it still
// comes here, and who has given it another output meanwhile is to keep that.
type recorder struct {
	// life guards whether the log comes here. It is not held by Write, which klog calls
	// with a lock of its own that redirecting takes, too.
	life       sync.Mutex
	recordings int

	mu sync.Mutex
	// idle is since when nobody records; zero while somebody does.
	idle time.Time
	live map[*recording]io.Writer
	// lines are the last ones; dropped is how many were there before them.
	lines   []string
	dropped int
}

var processLog = &recorder{live: map[*recording]io.Writer{}}

// recording is somebody's interest in the log.
type recording struct {
	recorder *recorder
	endOnce  sync.Once
}

// capture records the log of the process until end is called. What is logged goes to live
// as well, if that is not nil.
func capture(live io.Writer) *recording {
	if live == nil && os.Getenv(logVariable) != "" {
		live = os.Stderr
	}
	p := processLog
	r := &recording{recorder: p}
	p.life.Lock()
	defer p.life.Unlock()
	redirect(p)
	p.recordings++
	p.mu.Lock()
	defer p.mu.Unlock()
	p.idle = time.Time{}
	if live != nil {
		p.live[r] = live
	}
	return r
}

func (r *recording) end() {
	r.endOnce.Do(func() {
		p := r.recorder
		p.life.Lock()
		defer p.life.Unlock()
		p.recordings--
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.recordings == 0 {
			p.idle = time.Now()
		}
		delete(p.live, r)
	})
}

// Write takes a line of the log.
func (p *recorder) Write(line []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.idle.IsZero() {
		if !p.passes(line) {
			return len(line), nil
		}
		return os.Stderr.Write(line)
	}
	for _, live := range p.live {
		// That it cannot be written there is no reason not to keep it.
		_, _ = live.Write(line)
	}
	if !isTelling(line) {
		return len(line), nil
	}
	if len(p.lines) == maxLines {
		half := maxLines / 2
		p.dropped += half
		p.lines = append(make([]string, 0, maxLines), p.lines[half:]...)
	}
	p.lines = append(p.lines, string(line))
	return len(line), nil
}

// isTelling says whether a line of the log may help somebody whose test has failed: it is a
// warning or worse, or something that the server itself says. Its libraries say a lot.
func isTelling(line []byte) bool {
	return len(line) > 0 && line[0] != 'I' || bytes.Contains(line, []byte(` logger="kcp`))
}

// passes says whether a line is passed on when nobody records.
func (p *recorder) passes(line []byte) bool {
	return !isFatal(line) && (!isParting(line) || time.Since(p.idle) >= lastWords)
}

// isFatal says whether a line of the log comes from what ends the process, which klog writes
// to standard error itself.
func isFatal(line []byte) bool { return len(line) > 0 && line[0] == 'F' }

// isParting says whether a line of the log is what something has to say that ends.
func isParting(line []byte) bool {
	says := func(parting []byte) bool { return bytes.Contains(line, parting) }
	return len(line) > 0 && line[0] == 'I' && slices.ContainsFunc(partings, says)
}

// position is where the log is now, for since.
func (r *recording) position() int {
	p := r.recorder
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.dropped + len(p.lines)
}

// since returns what was logged after a position, as far as it is still there.
func (r *recording) since(position int) string {
	p := r.recorder
	p.mu.Lock()
	defer p.mu.Unlock()
	var text strings.Builder
	from := position - p.dropped
	if from < 0 {
		_, _ = fmt.Fprintf(&text, "[%d lines are not kept]\n", -from)
		from = 0
	}
	for _, line := range p.lines[min(from, len(p.lines)):] {
		text.WriteString(line)
	}
	return text.String()
}

// redirect sends the log of the process to w, a line in each call. If the log goes to anywhere
// but standard error already, somebody wants to have it there, and it stays.
//
// Nothing else of klog is touched: what captures and restores its whole state is not safe
// while others log.
func redirect(w io.Writer) {
	var flags flag.FlagSet
	klog.InitFlags(&flags)
	if flags.Lookup("logtostderr").Value.String() != "true" {
		return
	}
	// What ends the process goes to standard error, too, whatever w does.
	_ = flags.Set("stderrthreshold", "FATAL")
	// klog writes each line to the output of its severity and of all below. Keeping the
	// lowest one alone yields each line once.
	for _, severity := range []string{"FATAL", "ERROR", "WARNING"} {
		klog.SetOutputBySeverity(severity, io.Discard)
	}
	klog.SetOutputBySeverity("INFO", w)
	klog.LogToStderr(false)
}
