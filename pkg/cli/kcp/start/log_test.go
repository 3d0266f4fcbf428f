package start

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/klog/v2"
)

func TestQuietLog(t *testing.T) {
	var log bytes.Buffer
	restore := redirect(quiet{&log}, 2)
	klog.Info("a library starts something")
	klog.InfoS("a library starts something", "what", "thing")
	klog.Background().WithName("cacher").Info("a library with a named logger")
	klog.Background().WithName("kcp").Info("ready", "url", "https://127.0.0.1")
	klog.Background().WithName("kcp-workspace").Info("created")
	klog.Background().WithName("kcp").V(3).Info("a detail")
	klog.Warning("careful")
	klog.ErrorS(errors.New("broken"), "doing it", "attempt", 1)
	klog.ErrorS(errors.New("invalid bearer token"), "Unable to authenticate the request")
	klog.Warningf("rejected by webhook %q: %#v", "a.example.com", errors.New("no"))
	klog.Warningf("Failed calling webhook, failing open %v: %v", "a.example.com", errors.New("connection refused"))
	klog.ErrorS(errors.New(`failed calling webhook "a.example.com": connection refused`), "Unhandled Error")
	klog.ErrorS(errors.New("apiserver received an error that is not an metav1.Status: &errors.errorString{s:\"http: Handler timeout\"}"), "Unhandled Error")
	klog.ErrorS(errors.New("FinishRequest: post-timeout activity - time-elapsed: 1ms"), "Unhandled Error")
	klog.ErrorS(nil, "Post-timeout activity", "path", "/api")
	restore()
	klog.Flush()

	want := `I HEADER log_test.go] "ready" logger="kcp" url="https://127.0.0.1"
I HEADER log_test.go] "created" logger="kcp-workspace"
W HEADER log_test.go] careful
E HEADER log_test.go] "doing it" err="broken" attempt=1
`
	if diff := cmp.Diff(want, stable(log.String())); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestAlarm(t *testing.T) {
	const header = "0102 15:04:05.000000       1 a.go:1] "
	now := time.Unix(0, 0)
	type line struct {
		after time.Duration
		text  string
	}
	for name, tc := range map[string]struct {
		reason string
		lines  []line
		want   string
	}{
		"InfoIsSilent": {
			reason: "a terminal is for what needs attention",
			lines:  []line{{0, "I" + header + "hello"}},
		},
		"Severities": {
			reason: "how bad it is can be seen",
			lines:  []line{{0, "W" + header + "careful"}, {0, "E" + header + "broken"}},
			want:   "warning: careful\nerror: broken\n",
		},
		"OncePerMinute": {
			reason: "what repeats itself is shown once a minute",
			lines: []line{
				{0, "E" + header + `"sync" err="a" attempt=1`},
				{30 * time.Second, "E" + header + `"sync" err="b" attempt=2`},
				{31 * time.Second, "E" + header + `"sync" err="c" attempt=3`},
			},
			want: "error: \"sync\" err=\"a\" attempt=1\nerror: \"sync\" err=\"c\" attempt=3\n",
		},
		"DifferentMessages": {
			reason: "one message does not hide another",
			lines:  []line{{0, "E" + header + `"a" x=1`}, {0, "E" + header + `"b" x=1`}},
			want:   "error: \"a\" x=1\nerror: \"b\" x=1\n",
		},
		"ControlCharacters": {
			reason: "what clients send cannot drive the terminal",
			lines:  []line{{0, "W" + header + "bad name \x1b[2J\x07x"}},
			want:   "warning: bad name  [2J x\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			var out bytes.Buffer
			clock := now
			a := newAlarm(&out, func() time.Time { return clock })
			for _, l := range tc.lines {
				clock = clock.Add(l.after)
				if _, err := a.Write([]byte(l.text + "\n")); err != nil {
					t.Fatal(err)
				}
			}
			if diff := cmp.Diff(tc.want, out.String()); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}

func TestQuote(t *testing.T) {
	for name, tc := range map[string]struct{ reason, in, want string }{
		"Plain":   {"most paths need none", "/home/adam/.kcp", "/home/adam/.kcp"},
		"Working": {"the shell is to expand it", "$PWD/.kcp", "$PWD/.kcp"},
		"Space":   {"it is one word", "$PWD/my kcp", `"$PWD/my kcp"`},
		"Quote":   {"a quote does not end it", "a\"b`c", "\"a\\\"b\\`c\""},
	} {
		if got := quote(tc.in); got != tc.want {
			t.Errorf("%s: %s: got %s, want %s", name, tc.reason, got, tc.want)
		}
	}
}
