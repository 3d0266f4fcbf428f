package kcptest

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/klog/v2"
)

// TestOtherOutput: whoever gives klog an output of his own when control planes have ended
// keeps it, however long that is ago, and whether there are others later.
func TestOtherOutput(t *testing.T) {
	defer klog.LogToStderr(true)
	synctest.Test(t, func(t *testing.T) {
		capture(nil).end()
		var own bytes.Buffer
		klog.SetOutput(&own)
		klog.LogToStderr(false)
		for _, said := range []string{"at once", "later", "after another one"} {
			own.Reset()
			klog.Info(said)
			if !strings.Contains(own.String(), said) {
				t.Errorf("what was said %s has gone elsewhere", said)
			}
			time.Sleep(2 * lastWords)
			capture(nil).end()
		}
	})
}

// TestNobodyRecords: what is logged when control planes have ended is written, but for the
// last words of their parts.
func TestNobodyRecords(t *testing.T) {
	line := []byte("I1121 19:30:00.000000       1 x.go:1] Shutting down\n")
	p := &recorder{idle: time.Now()}
	if !isParting(line) || p.passes(line) {
		t.Error("last words are written")
	}
	if p.idle = time.Now().Add(-2 * lastWords); !p.passes(line) {
		t.Error("what others say later is not written")
	}
	if p.passes([]byte("F1121 19:30:00.000000       1 x.go:1] the end\n")) {
		t.Error("what klog has written is written again")
	}
}
