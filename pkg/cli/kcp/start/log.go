package start

import (
	"bytes"
	"flag"
	"io"
	"slices"
	"strconv"
	"sync"
	"time"
	"unicode"

	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/klog/v2"

	"github.com/forkless/kcp/internal/features"
	"github.com/forkless/kcp/pkg/server/options"
)

// redirect sends the log of the process, up to a level, to w, a line in each call. It
// returns what puts it back.
func redirect(w io.Writer, level int) (restore func()) {
	before := klog.CaptureState()
	var flags flag.FlagSet
	klog.InitFlags(&flags)
	// What ends the process goes to standard error too, whatever w does.
	_ = flags.Set("stderrthreshold", "FATAL")
	_ = flags.Set("v", strconv.Itoa(level))
	klog.LogToStderr(false)
	// klog writes each line to the output of its severity and of all below. Keeping the
	// lowest one alone yields each line once.
	for _, severity := range []string{"FATAL", "ERROR", "WARNING"} {
		klog.SetOutputBySeverity(severity, io.Discard)
	}
	klog.SetOutputBySeverity("INFO", w)
	return before.Restore
}

// LogTo sends the log of the process to w, with as much of it as was asked for. A log that
// is more than quiet cannot be sent elsewhere later on; what restore does then is to flush it.
func LogTo(w io.Writer, logging options.Logging) (restore func(), err error) {
	if !logging.Quiet {
		return klog.Flush, logsapi.ValidateAndApplyWithOptions(logging.Configuration,
			&logsapi.LoggingOptions{ErrorStream: w, InfoStream: w}, features.Gates())
	}
	putBack := redirect(quiet{w}, int(logging.Configuration.Verbosity))
	return func() {
		klog.Flush()
		putBack()
	}, nil
}

// ownLine is in each line of a logger of this program.
var ownLine = []byte(` logger="` + loggerName)

// provoked are what libraries say, as errors, of single requests. Clients cause them at
// will, by hanging up, with bad tokens, or with webhooks of their own, and hear of it
// themselves; the audit log is where to look for them.
var provoked = [][]byte{
	[]byte(`] "Unable to authenticate the request"`),
	[]byte(`] "Failed to encode watch event"`),
	[]byte(`] "Timeout or abort while handling"`),
	[]byte(`] "invalid timeout specified in the request URL`),
	[]byte(`"apiserver was unable to `),
	[]byte(`] "Unhandled Error" err="apiserver received an error that is not an metav1.Status: &errors.errorString{s:\"http: Handler timeout\"}`),
	[]byte(`] "Unhandled Error" err="apiserver received an error that is not an metav1.Status: &errors.errorString{s:\"conversion webhook for `),
	[]byte(`] "Unhandled Error" err="FinishRequest: post-timeout activity `),
	[]byte(`] "Post-timeout activity"`),
	[]byte(`] Failed calling webhook, failing `),
	[]byte(`] "Unhandled Error" err="failed calling webhook `),
	[]byte(`] Context canceled when calling webhook `),
	[]byte(`] rejected by webhook `),
}

// quiet lets through warnings, errors, and what this program says itself.
type quiet struct{ io.Writer }

func (q quiet) Write(line []byte) (int, error) {
	isProvoked := func(message []byte) bool { return bytes.Contains(line, message) }
	if isAlarm(line) && !slices.ContainsFunc(provoked, isProvoked) || bytes.Contains(line, ownLine) {
		return q.Writer.Write(line)
	}
	return len(line), nil
}

// isAlarm says whether a line of the log is a warning or worse. The severity is its
// first letter.
func isAlarm(line []byte) bool {
	return len(line) > 0 && bytes.IndexByte([]byte("WEF"), line[0]) >= 0
}

const (
	// alarmInterval is how long an alarm that was shown is not shown again.
	alarmInterval = time.Minute
	// maxAlarms bounds the alarms that are remembered.
	maxAlarms = 1000
)

// alarm shows warnings and errors to people, each message at most once a minute.
type alarm struct {
	out io.Writer
	now func() time.Time

	mutex sync.Mutex
	shown map[string]time.Time
}

func newAlarm(out io.Writer, now func() time.Time) *alarm {
	return &alarm{out: out, now: now, shown: map[string]time.Time{}}
}

// Write shows a line of the log if it is a warning or worse and not known yet. That it
// cannot be shown is no reason to stop logging to elsewhere.
func (a *alarm) Write(line []byte) (int, error) {
	if isAlarm(line) {
		text := withoutHeader(line)
		if a.due(message(text)) {
			_, _ = a.out.Write(append(render(line[0], text), '\n'))
		}
	}
	return len(line), nil
}

// due says whether a message is to be shown now.
func (a *alarm) due(message string) bool {
	a.mutex.Lock()
	defer a.mutex.Unlock()
	now := a.now()
	if last, ok := a.shown[message]; ok && now.Sub(last) < alarmInterval {
		return false
	}
	if len(a.shown) >= maxAlarms {
		clear(a.shown)
	}
	a.shown[message] = now
	return true
}

// withoutHeader returns what a line of the log says: what follows "file.go:12] ".
func withoutHeader(line []byte) []byte {
	line = bytes.TrimRight(line, "\n")
	if _, text, ok := bytes.Cut(line, []byte("] ")); ok {
		return text
	}
	return line
}

// message returns the part of a text that says what happened, without the values that
// follow in a structured line. These may differ although it is the same again.
func message(text []byte) string {
	if len(text) > 0 && text[0] == '"' {
		if end := bytes.Index(text[1:], []byte(`" `)); end >= 0 {
			return string(text[:end+1])
		}
	}
	return string(text)
}

// render returns a text for people, without control characters that would drive their
// terminal.
func render(severity byte, text []byte) []byte {
	label := "error: "
	if severity == 'W' {
		label = "warning: "
	}
	text = bytes.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) {
			return ' '
		}
		return r
	}, text)
	return append([]byte(label), text...)
}
