package contract

import (
	"errors"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

const (
	patience = time.Minute
	poll     = 10 * time.Millisecond
)

// ok fails the test if there is an error.
func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// refused fails the test unless err is a Status with that code that says all of words.
func refused(t *testing.T, err error, code int, words ...string) {
	t.Helper()
	status, is := errors.AsType[*apierrors.StatusError](err)
	if !is || int(status.Status().Code) != code {
		t.Errorf("got %v, want a Status with code %d", err, code)
		return
	}
	says(t, err.Error(), words...)
}

// got fails the test unless the answer has that code and says all of words.
func got(t *testing.T, a answer, code int, words ...string) {
	t.Helper()
	if a.code != code {
		t.Errorf("got %d %s, want %d", a.code, a.body, code)
		return
	}
	says(t, a.body, words...)
}

func says(t *testing.T, text string, words ...string) {
	t.Helper()
	for _, word := range words {
		if !strings.Contains(text, word) {
			t.Errorf("got %q, which does not say %q", text, word)
		}
	}
}

// eventually calls check until it returns nil.
func eventually(t *testing.T, what string, check func() error) {
	t.Helper()
	var last error
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); <-time.After(poll) {
		if last = check(); last == nil {
			return
		}
	}
	t.Fatalf("%s: not within %s: %v", what, patience, last)
}

// missing returns nil if err says that what was asked for is not there.
func missing(err error) error {
	switch {
	case apierrors.IsNotFound(err):
		return nil
	case err != nil:
		return err
	default:
		return errors.New("it is still there")
	}
}
