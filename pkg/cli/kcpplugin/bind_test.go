package kcpplugin

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const (
	hereBindings = "root:here/apis/apis.kcp.io/v1alpha2/apibindings/"
	oldBindings  = "root:here/apis/apis.kcp.io/v1alpha1/apibindings/"
	certsPath    = "root:platform/apis/apis.kcp.io/v1alpha2/apiexports/certs"
)

// certs is an export with claims of all sorts.
const certs = `{
	"spec": {
		"resources": [
			{"group": "cert-manager.io", "name": "certificates", "schema": "v1.certificates.cert-manager.io"},
			{"group": "cert-manager.io", "name": "issuers", "schema": "v1.issuers.cert-manager.io"},
			{"group": "acme.io", "name": "orders", "schema": "v1.orders.acme.io"}],
		"permissionClaims": [
			{"resource": "secrets", "verbs": ["get", "list"]},
			{"resource": "configmaps", "verbs": ["get"], "defaultSelector": {"matchLabels": {"acme.io/certs": "true"}}},
			{"group": "gw.io", "resource": "gateways", "verbs": ["*"], "identityHash": "9c01ab77de02aaaa"}]},
	"status": {"identityHash": "5fdf7c7aaf40bbbb"}}`

// provider offers certs and binds at once.
func provider(t *testing.T, s *server) {
	s.put(t, certsPath, certs)
	s.created = bindAtOnce
}

func bindAtOnce(_ string, o object) {
	o["status"] = object{"phase": "Bound", "exportPermissionClaims": []any{
		object{"resource": "secrets", "verbs": []any{"get", "list"}},
	}}
}

const boundLines = "apibinding certs created. Waiting to successfully bind ...\ncerts created and bound.\n"

const introduction = `certs from root:platform (identity 5fdf7c7aaf40) wants to work in root:here:

  its own APIs   orders (acme.io)
                 certificates, issuers (cert-manager.io)
  asks for       secrets            get list   all objects
                 configmaps         get        labelled acme.io/certs=true
                 gateways (gw.io)   *          identity 9c01ab77de02

Accept  a all   s one by one   r reject all   n decide later   q do not bind: `

func TestBind(t *testing.T) {
	all := `[
		{"resource":"secrets","verbs":["get","list"],"selector":{"matchAll":true},"state":"Accepted"},
		{"resource":"configmaps","verbs":["get"],"defaultSelector":{"matchLabels":{"acme.io/certs":"true"}},"selector":{"matchLabels":{"acme.io/certs":"true"}},"state":"Accepted"},
		{"group":"gw.io","resource":"gateways","verbs":["*"],"identityHash":"9c01ab77de02aaaa","selector":{"matchAll":true},"state":"Accepted"}]`
	note := "note: certs asks for secrets (get,list); answer with: kubectl kcp claims accept certs --resource secrets\n"
	cases := map[string]struct {
		reason string
		setup  func(*testing.T, *server)
		step   step
		// claims are the answers in the binding, as JSON; "" if there is to be no binding.
		claims string
	}{
		"Plain": {
			reason: "without flags nothing is answered, and what is open is said",
			step:   step{line: "kcp bind apiexport root:platform:certs", stdout: boundLines, stderr: note},
			claims: `null`,
		},
		"LeadingColon": {
			reason: "paths may be written as kubectl ws has them",
			step:   step{line: "kcp bind apiexport :root:platform:certs", stdout: boundLines, stderr: note},
			claims: `null`,
		},
		"BadClaim": {
			reason: "what cannot be a claim is found before anything is sent",
			step: step{line: "kcp bind apiexport root:platform:certs --accept-permission-claim .core,secrets",
				fails: true, stderr: "error: \".core\" is no claim: it has to look like secrets, widgets.example.dev or secrets=get+list\n"},
		},
		"Verbs": {
			reason: "verbs can be named, and a claim of the core group in both ways",
			step: step{line: "kcp bind apiexport root:platform:certs --accept-permission-claim secrets.core=get+watch,gateways.gw.io --reject-permission-claim configmaps",
				stdout: boundLines},
			claims: `[
				{"resource":"secrets","verbs":["get","watch"],"selector":{"matchAll":true},"state":"Accepted"},
				{"group":"gw.io","resource":"gateways","verbs":["*"],"identityHash":"9c01ab77de02aaaa","selector":{"matchAll":true},"state":"Accepted"},
				{"resource":"configmaps","verbs":["get"],"defaultSelector":{"matchLabels":{"acme.io/certs":"true"}},"selector":{"matchLabels":{"acme.io/certs":"true"}},"state":"Rejected"}]`,
		},
		"OtherVerbs": {
			reason: "verbs that the export does not ask for give no access, and one of * asks for no other verb",
			step: step{line: "kcp bind apiexport root:platform:certs --accept-permission-claim secrets=watch,gateways.gw.io=get --reject-permission-claim configmaps",
				stdout: boundLines,
				stderr: "warning: accepting secrets for watch gives no access, because the export asks for get,list: only verbs that both name are granted\n" +
					"warning: accepting gateways.gw.io:9c01ab77de02aaaa for get gives no access, because the export asks for *: only verbs that both name are granted\n"},
			claims: `[
				{"resource":"secrets","verbs":["watch"],"selector":{"matchAll":true},"state":"Accepted"},
				{"group":"gw.io","resource":"gateways","verbs":["get"],"identityHash":"9c01ab77de02aaaa","selector":{"matchAll":true},"state":"Accepted"},
				{"resource":"configmaps","verbs":["get"],"defaultSelector":{"matchLabels":{"acme.io/certs":"true"}},"selector":{"matchLabels":{"acme.io/certs":"true"}},"state":"Rejected"}]`,
		},
		"NotAsked": {
			reason: "a claim can be answered before it is made, and may be a typing error",
			step: step{line: "kcp bind apiexport root:platform:certs --accept-permission-claim secret",
				stdout: boundLines, stderr: "warning: certs does not ask for secret\n" + note},
			claims: `[{"resource":"secret","verbs":["*"],"selector":{"matchAll":true},"state":"Accepted"}]`,
		},
		"UnreadableExport": {
			reason: "who may bind an export may not be able to read it",
			setup:  func(_ *testing.T, s *server) { s.forbidden = []string{"root:platform/"} },
			step: step{line: "kcp bind apiexport root:platform:certs --accept-permission-claim secrets",
				stdout: boundLines},
			claims: `[{"resource":"secrets","verbs":["*"],"selector":{"matchAll":true},"state":"Accepted"}]`,
		},
		"All": {
			reason: "identities, verbs and selectors are those that the export asks for",
			step:   step{line: "kcp bind apiexport root:platform:certs --accept-all-permission-claims", stdout: boundLines},
			claims: all,
		},
		"AllUnreadable": {
			reason: "all of what cannot be read is nothing that could be accepted",
			setup:  func(_ *testing.T, s *server) { s.forbidden = []string{"root:platform/"} },
			step: step{line: "kcp bind apiexport root:platform:certs --accept-all-permission-claims", fails: true,
				stderr: "error: reading what export certs asks for: forbidden: access denied\n" +
					"hint: binding needs no permission to read the export; kubectl kcp claims accept certs --all answers afterwards\n"},
		},
		"Interactive": {
			reason: "somebody at a terminal sees who wants what, and is asked until there is an answer",
			step: step{line: "kcp bind apiexport root:platform:certs", typed: "x\na\n", stdout: boundLines,
				stderr: introduction + "Please answer with one of a s r n q\n" +
					"Accept  a all   s one by one   r reject all   n decide later   q do not bind: "},
			claims: all,
		},
		"OneByOne": {
			reason: "claims can be answered one after the other",
			step: step{line: "kcp bind apiexport root:platform:certs", typed: "s\na\nr\nn\n", stdout: boundLines,
				stderr: introduction + "secrets (get list)   a accept   r reject   n later: " +
					"configmaps (get)   a accept   r reject   n later: " +
					"gateways.gw.io:9c01ab77de02aaaa (*)   a accept   r reject   n later: "},
			claims: `[
				{"resource":"secrets","verbs":["get","list"],"selector":{"matchAll":true},"state":"Accepted"},
				{"resource":"configmaps","verbs":["get"],"defaultSelector":{"matchLabels":{"acme.io/certs":"true"}},"selector":{"matchLabels":{"acme.io/certs":"true"}},"state":"Rejected"}]`,
		},
		"Quit": {
			reason: "seeing what is asked for, one may think better of it",
			step:   step{line: "kcp bind apiexport root:platform:certs", typed: "q\n", fails: true, stderr: introduction + "error: nothing was bound\n"},
		},
		"NoInput": {
			reason: "a flag keeps even a terminal silent",
			step:   step{line: "kcp bind apiexport root:platform:certs --no-input", typed: "q\n", stdout: boundLines, stderr: note},
			claims: `null`,
		},
		"DryRun": {
			reason: "the server checks, and nothing is made",
			step:   step{line: "kcp bind apiexport root:platform:certs --dry-run=server", stdout: "apibinding certs created (server dry run)\n"},
		},
		"Name": {
			reason: "with a document on stdout, what is said about it goes elsewhere",
			step: step{line: "kcp bind apiexport root:platform:certs -o name",
				stdout: "apibinding.apis.kcp.io/certs\n", stderr: note2(boundLines, note)},
			claims: `null`,
		},
		"BadReference": {
			reason: "an export alone does not say where it is",
			step: step{line: "kcp bind apiexport certs", fails: true,
				stderr: "error: \"certs\" is no reference to an export, which has the form <path>:<export>, such as root:platform:certs\n" +
					"hint: kubectl kcp exports PATH lists those in a workspace that you may bind\n"},
		},
		"Mistyped": {
			reason: "the server says the same of what is not there and of what may not be bound",
			setup: func(_ *testing.T, s *server) {
				s.forbidden = []string{"root:here/apis/apis.kcp.io/v1alpha2/apibindings"}
			},
			step: step{line: "kcp bind apiexport root:platform:cert", fails: true,
				stderr: "error: forbidden: access denied\nhint: did you mean root:platform:certs?\n"},
		},
		"Forbidden": {
			reason: "why it may not be bound can be found out",
			setup: func(_ *testing.T, s *server) {
				s.forbidden = []string{"root:here/apis/apis.kcp.io/v1alpha2/apibindings"}
			},
			step: step{line: "kcp bind apiexport root:platform:certs --no-input", fails: true,
				stderr: "error: forbidden: access denied\nhint: kubectl kcp debug binding root:platform:certs looks at why\n"},
		},
		"Contradiction": {
			reason: "a claim has one answer",
			step: step{line: "kcp bind apiexport root:platform:certs --accept-permission-claim secrets --reject-permission-claim secrets.core", fails: true,
				stderr: "error: claim secrets is answered twice\nusage: kubectl kcp bind apiexport PATH:EXPORT [flags]\n"},
		},
		"Conflict": {
			reason: "what is in the way is said",
			setup: func(_ *testing.T, s *server) {
				s.created = func(_ string, o object) {
					o["status"] = object{"phase": "Binding", "conditions": []any{
						object{"type": "Ready", "status": "False", "message": "of others"},
						object{"type": "InitialBindingCompleted", "status": "False", "reason": "NamingConflicts", "message": "certificates are bound by another"},
					}}
				}
			},
			step: step{line: "kcp bind apiexport root:platform:certs --timeout 20ms --quiet", fails: true,
				stdout: "apibinding certs created. Waiting to successfully bind ...\n",
				stderr: "error: could not bind certs in 0.02s: certificates are bound by another\n" +
					"hint: kubectl kcp debug binding certs\n"},
			claims: `null`,
		},
		"Format": {
			reason: "an unknown format is found before anything is done",
			step: step{line: "kcp bind apiexport root:platform:certs -o xml", fails: true,
				stderr: "error: unknown output format \"xml\", known are json, yaml, name, jsonpath=..., jsonpath-file=..., go-template=..., go-template-file=..., custom-columns=..., custom-columns-file=...\n" +
					"usage: kubectl kcp bind apiexport PATH:EXPORT [flags]\n"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := runAll(t, func(t *testing.T, s *server) {
				provider(t, s)
				if tc.setup != nil {
					tc.setup(t, s)
				}
			}, []step{tc.step})
			binding := s.objects[hereBindings+"certs"]
			if (binding == nil) != (tc.claims == "") {
				t.Fatalf("%s: the binding is %v", tc.reason, binding)
			}
			if binding == nil {
				return
			}
			want := object{"reference": object{"export": object{"path": "root:platform", "name": "certs"}}}
			if claims := decode(t, tc.claims); claims != nil {
				want["permissionClaims"] = claims
			}
			if diff := cmp.Diff(want, binding["spec"]); diff != "" {
				t.Errorf("%s: the binding's spec (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}

func note2(lines, note string) string {
	return lines[:len(lines)-len("certs created and bound.\n")] + note + "certs created and bound.\n"
}

func TestBindOnOldServer(t *testing.T) {
	s := runAll(t, func(t *testing.T, s *server) {
		s.versions = []string{"v1alpha1"}
		s.created = bindAtOnce
		s.put(t, "root:platform/apis/apis.kcp.io/v1alpha1/apiexports/certs", `{"apiVersion": "apis.kcp.io/v1alpha1",
			"spec": {"latestResourceSchemas": ["v1.certificates.cert-manager.io"],
			"permissionClaims": [{"resource": "secrets", "all": true}, {"group": "gw.io", "resource": "gateways", "identityHash": "abc", "all": true}]}}`)
	}, []step{
		{line: "kcp bind apiexport root:platform:certs --accept-permission-claim secrets=get", fails: true,
			stderr: "error: this server does not know verbs in claims, so secrets cannot be accepted for some of them\n"},
		{line: "kcp bind apiexport root:platform:certs --accept-all-permission-claims", stdout: boundLines},
		{line: "kcp claims get apibinding", stdout: "APIBINDING   GROUP-RESOURCE   STATUS\ncerts        secrets          Accepted\ncerts        gateways.gw.io   Accepted\n"},
		{line: "kcp claims reject certs --resource secrets", stdout: "claim \"secrets\" on APIBinding \"certs\" is rejected\n"},
		{line: "kcp exports :root:platform", stdout: "EXPORT   WORKSPACE       RESOURCES                      CLAIMS                   BOUND-HERE\n" +
			"certs    root:platform   certificates.cert-manager.io   secrets,gateways.gw.io   certs\n"},
	})
	want := decode(t, `{"reference": {"export": {"path": "root:platform", "name": "certs"}}, "permissionClaims": [
		{"resource": "secrets", "all": true, "state": "Rejected"},
		{"group": "gw.io", "resource": "gateways", "identityHash": "abc", "all": true, "state": "Accepted"}]}`)
	if diff := cmp.Diff(want, s.objects[oldBindings+"certs"]["spec"]); diff != "" {
		t.Errorf("the binding is not in v1alpha1 (-want +got):\n%s", diff)
	}
}

// TestBindPolls: the fields of a binding come one after the other.
func TestBindPolls(t *testing.T) {
	looks := 0
	s := runAll(t, func(t *testing.T, s *server) {
		provider(t, s)
		s.created = nil
		s.read = func(path string, o object) bool {
			if path == hereBindings+"certs" {
				if looks++; looks == 3 {
					bindAtOnce(path, o)
				}
			}
			return true
		}
	}, []step{{line: "kcp bind apiexport root:platform:certs --reject-all-permission-claims --quiet", stdout: boundLines}})
	if count := len(slices.DeleteFunc(s.seen(), func(r string) bool { return r != "GET /clusters/"+hereBindings+"certs" })); count != 3 {
		t.Errorf("it was looked at %d times", count)
	}
}

func decode(t *testing.T, content string) any {
	t.Helper()
	var value any
	if err := json.Unmarshal([]byte(content), &value); err != nil {
		t.Fatal(err)
	}
	return value
}
