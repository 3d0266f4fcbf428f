package kcpplugin

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/forkless/kcp/pkg/cli/run"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// consumerCerts is an export as a consumer meets it.
const consumerCerts = `{
	"spec": {
		"resources": [
			{"group": "cert-manager.io", "name": "certificates", "schema": "v1.certificates.cert-manager.io"},
			{"group": "cert-manager.io", "name": "issuers", "schema": "v1.issuers.cert-manager.io"}],
		"permissionClaims": [
			{"resource": "secrets", "verbs": ["get", "list", "watch", "create", "update"]},
			{"resource": "configmaps", "verbs": ["get", "list", "watch"], "defaultSelector": {"matchLabels": {"acme.io/certs": "true"}}},
			{"group": "gw.io", "resource": "gateways", "verbs": ["*"], "identityHash": "9c01ab77de02aaaa"}]},
	"status": {"identityHash": "5fdf7c7aaf40bbbb"}}`

// taken makes bindings fail because something else serves the API.
func taken(_ string, o object) {
	o["status"] = object{"phase": "Binding", "conditions": []any{object{
		"type": "InitialBindingCompleted", "status": "False", "reason": "NamingConflicts",
		"message": "certificates.cert-manager.io is already served here by a CRD",
	}}}
}

// TestTranscripts compares all that somebody at a terminal sees with golden files: what
// is printed and what is said, in order.
func TestTranscripts(t *testing.T) {
	cases := map[string]struct {
		reason      string
		line, typed string
		columns     string
		created     func(path string, o object)
		code        int
	}{
		"bind":        {reason: "what is asked for is shown, and asked about once", line: "bind apiexport root:platform:certs", typed: "a\n", created: bindAtOnce},
		"bind-narrow": {reason: "what is agreed to is not cut, at 40 columns either", line: "bind apiexport root:platform:certs", typed: "n\n", columns: "40", created: bindAtOnce},
		"bind-failed": {reason: "a failure says what is in the way, and who knows more", line: "bind apiexport root:platform:certs --no-input --timeout 20ms --quiet", typed: "-", created: taken, code: 1},
		"unbind":      {reason: "what goes is shown, and its name asked for", line: "unbind certs --quiet --wait=false", typed: "certs\n"},
		"claims":      {reason: "what is open is listed beside what is answered", line: "claims get apibinding certs --wide", typed: "-"},
		"claims-narrow": {
			reason: "and names are cut, in the middle, before they are wrapped", line: "claims get apibinding certs", typed: "-", columns: "40",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			s.put(t, certsPath, consumerCerts)
			if tc.created == nil {
				withObjects(t, s)
			}
			if strings.HasPrefix(name, "claims") {
				withAnswers(t, s)
			}
			s.created = tc.created
			s.login(t)
			t.Setenv("COLUMNS", tc.columns)
			t.Setenv("NO_COLOR", "1")
			t.Setenv("TERM", "dumb")
			t.Setenv("LC_ALL", "C.UTF-8")
			var seen bytes.Buffer
			streams := run.Streams{In: screen{Reader: strings.NewReader(tc.typed)}, Out: screen{Writer: &seen}, ErrOut: screen{Writer: &seen}}
			if code := run.Execute(t.Context(), streams, NewPlugin, strings.Fields(tc.line)); code != tc.code {
				t.Errorf("%s: exit code %d, want %d", tc.reason, code, tc.code)
			}
			golden := filepath.Join("testdata", name+".txt")
			if *update {
				if err := os.WriteFile(golden, seen.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), seen.String()); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}
