package places

import (
	"bytes"
	"strings"
	"testing"

	"github.com/forkless/kcp/internal/servertest"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/cli/ws"
)

// kubectlWS runs "kubectl ws" as whoever the kubeconfig of the server is for.
func kubectlWS(t *testing.T, s *suite, args ...string) (stdout, stderr string, ok bool) {
	t.Helper()
	t.Setenv("KUBECONFIG", s.server.Kubeconfig)
	var out, problems bytes.Buffer
	streams := run.Streams{In: strings.NewReader(""), Out: &out, ErrOut: &problems}
	code := run.Execute(t.Context(), streams, ws.NewPlugin, args)
	return out.String(), problems.String(), code == 0
}

// TestMountsInCommands shows that people find their way to what is mounted.
func TestMountsInCommands(t *testing.T) {
	s := newSuite(t, servertest.Start(t, servertest.WithUsers(t), "--feature-gates=WorkspaceMounts=true"))
	path, target := s.mountable(t), s.universal(t, aliceName)
	inside := s.as(t, alice, path)
	inside.mounted("door", s.as(t, "", target).config.Host, "Ready")
	inside.phase("door", corev1alpha1.PhaseReady)
	inside.mounted("shut", s.as(t, "", target).config.Host, "Unknown")
	inside.phase("shut", corev1alpha1.PhaseUnavailable)

	if out, problems, ok := kubectlWS(t, s, ":"+path+":door"); !ok || !strings.Contains(out, path+":door") {
		t.Errorf("going there: got %q, %q", out, problems)
	}
	if out, problems, ok := kubectlWS(t, s, "."); !ok || !strings.Contains(out, path+":door") {
		t.Errorf("being there: got %q, %q", out, problems)
	}
	if out, problems, ok := kubectlWS(t, s, ":"+path+":shut"); ok || !strings.Contains(problems, path+`:shut" is not available`) || !strings.Contains(problems, `is in phase "Unknown"`) {
		t.Errorf("going where nothing is: got %q, %q", out, problems)
	}
	if out, problems, ok := kubectlWS(t, s, ":"+path); !ok {
		t.Errorf("going back: got %q, %q", out, problems)
	}
	out, problems, ok := kubectlWS(t, s, "tree")
	if !ok || !strings.Contains(out, "door [m]") || !strings.Contains(out, "shut [m]") {
		t.Errorf("looking: got %q, %q", out, problems)
	}
}
