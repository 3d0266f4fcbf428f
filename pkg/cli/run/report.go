package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/forkless/kcp/pkg/cli/display"
)

// Report writes err to w as people are to see it.
func Report(w io.Writer, err error) {
	_, _ = fmt.Fprintf(w, "error: %s\n", Message(err))

	var m misuse
	if errors.As(err, &m) {
		_, _ = fmt.Fprintf(w, "usage: %s\n", m.usage)
	}
	for _, hint := range allHints(err) {
		_, _ = fmt.Fprintf(w, "hint: %s\n", display.Line(hint))
	}
}

// Message returns what err says, in one line, for those who print an error amid other
// output.
func Message(err error) string { return display.Line(describe(err)) }

// Hints returns the hints of err, each in one line, for those who show an error amid other
// output.
func Hints(err error) []string {
	if err == nil {
		return nil
	}
	all := allHints(err)
	for i := range all {
		all[i] = display.Line(all[i])
	}
	return all
}

// allHints returns what the commands attached and, if that leaves room, what can be
// told from the kind of the error alone.
func allHints(err error) []string {
	all := hints(err)
	switch {
	case apierrors.IsUnauthorized(err):
		all = append(all, "the server does not accept the credentials in the kubeconfig; they may have expired")
	case clientcmd.IsEmptyConfig(err):
		all = append(all, noConfig(os.Getenv(clientcmd.RecommendedConfigPathEnvVar)))
	}
	return all[:min(len(all), maxHints)]
}

// noConfig says what to do where there is no kubeconfig, although KUBECONFIG may name files.
func noConfig(named string) string {
	files := filepath.SplitList(named)
	if len(files) > 0 && !slices.ContainsFunc(files, func(file string) bool { _, err := os.Stat(file); return err == nil }) {
		return fmt.Sprintf("the environment variable KUBECONFIG names %s, which is not there", strings.Join(files, ", "))
	}
	return "name a kubeconfig with --kubeconfig or the environment variable KUBECONFIG"
}

// describe returns the message of err. Errors of the transport carry the method and
// the whole URL of the request, which tells the caller of a command nothing; the
// server and the reason remain.
func describe(err error) string {
	message := err.Error()
	var transport *url.Error
	if !errors.As(err, &transport) {
		return message
	}
	return strings.Replace(message, transport.Error(), describeTransport(transport), 1)
}

func describeTransport(err *url.Error) string {
	if errors.Is(err, context.Canceled) {
		return "interrupted"
	}
	if err.Timeout() {
		// Whichever clock ran out first, it is called something else.
		return fmt.Sprintf("cannot reach the server %s: it has not answered in time", serverOf(err.URL))
	}
	reason := err.Err
	// A dial error repeats the address that is part of the server's URL.
	if op, ok := errors.AsType[*net.OpError](reason); ok && op.Op == "dial" {
		reason = op.Err
	}
	return fmt.Sprintf("cannot reach the server %s: %v", serverOf(err.URL), reason)
}

// serverOf returns the part of a request's URL that names the server.
func serverOf(request string) string {
	u, err := url.Parse(request)
	if err != nil || u.Host == "" {
		return request
	}
	return u.Scheme + "://" + u.Host
}
