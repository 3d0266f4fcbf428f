package ephemeral

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/forkless/kcp/pkg/cli/display"
)

// voice is what the command says itself.
type voice struct{ w io.Writer }

// say writes a line. That nobody hears it is no reason to end a command.
func (v voice) say(format string, args ...any) {
	if v.w != nil {
		_, _ = fmt.Fprintf(v.w, "kcp run: %s\n", display.Line(fmt.Sprintf(format, args...)))
	}
}

func (o *Options) voice() voice {
	if o.Quiet || o.detached {
		return voice{}
	}
	return voice{w: o.streams.ErrOut}
}

// ready says that the command is about to run.
func (v voice) ready(took time.Duration, url string, command []string, kubeconfig string) {
	if len(command) == 0 {
		v.say("ready in %.2fs at %s, KUBECONFIG=%s; ctrl-c ends it", took.Seconds(), url, kubeconfig)
		return
	}
	v.say("ready in %.2fs at %s, KUBECONFIG set for: %s", took.Seconds(), url, strings.Join(command, " "))
}

// over says how it has ended, and what is left of it.
func (v voice) over(how string, took time.Duration, left []string) {
	if len(left) == 0 {
		left = []string{"nothing kept"}
	}
	v.say("%s after %.1fs, %s", how, took.Seconds(), strings.Join(left, ", "))
}

// unfinished is an error that comes from time having run out, which is said already: what
// remains is what was being done.
type unfinished struct{ error }

// Error returns the text without the end that says it once more.
func (u unfinished) Error() string {
	text, timeout := u.error.Error(), context.DeadlineExceeded.Error()
	if doing := strings.TrimRight(strings.TrimSuffix(text, timeout), ": "); doing != "" {
		return doing
	}
	return text
}

// Unwrap returns the error with all of its text.
func (u unfinished) Unwrap() error { return u.error }

// span returns a time as people write it: 1h rather than 1h0m0s.
func span(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
