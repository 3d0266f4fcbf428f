package kcpplugin

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// answered is a binding with claims in all states.
const answered = `{"apiVersion": "apis.kcp.io/v1alpha2", "kind": "APIBinding", "spec": {
	"reference": {"export": {"path": "root:platform", "name": "certs"}},
	"permissionClaims": [
		{"resource": "secrets", "verbs": ["get"], "selector": {"matchAll": true}, "state": "Accepted"},
		{"resource": "configmaps", "verbs": ["*"], "selector": {"matchLabels": {"a": "b"}}, "state": "Rejected"},
		{"group": "gw.io", "resource": "gateways", "identityHash": "old", "verbs": ["*"], "selector": {"matchAll": true}, "state": "Accepted"},
		{"resource": "namespaces", "verbs": ["list"], "selector": {"matchAll": true}, "state": "Accepted"},
		{"resource": "events", "verbs": ["list"], "selector": {"matchAll": true}, "state": "Accepted"}]},
	"status": {"exportPermissionClaims": [
		{"resource": "secrets", "verbs": ["get", "list"]},
		{"resource": "configmaps", "verbs": ["*"]},
		{"group": "gw.io", "resource": "gateways", "identityHash": "new", "verbs": ["get"]},
		{"resource": "namespaces", "verbs": ["list"]}],
	"appliedPermissionClaims": [{"resource": "namespaces", "verbs": ["list"], "selector": {"matchAll": true}}]}}`

func withAnswers(t *testing.T, s *server) {
	s.put(t, hereBindings+"certs", answered)
}

func TestClaimsGet(t *testing.T) {
	runAll(t, withAnswers, []step{
		{line: "kcp claims get apibinding", stdout: `APIBINDING   GROUP-RESOURCE   VERBS   STATUS
certs        secrets          get     Accepted
certs        configmaps       *       Rejected
certs        gateways.gw.io   *       Accepted
certs        namespaces       list    Accepted
certs        events           list    Accepted
certs        gateways.gw.io   get     Open
`},
		{line: "kcp claims get apibinding certs --wide --no-headers", stdout: `certs   secrets          get    Accepted   -     *     get,list   OtherVerbs
certs   configmaps       *      Rejected   -     a=b   *          -
certs   gateways.gw.io   *      Accepted   old   *     -          OtherIdentity
certs   namespaces       list   Accepted   -     *     list       Applied
certs   events           list   Accepted   -     *     -          NotClaimed
certs   gateways.gw.io   get    Open       new   -     get        -
`},
		{line: "kcp claims get apibindings -o jsonpath={.items[0].spec.permissionClaims[0].resource}", stdout: "secrets"},
		{line: "kcp claims get apibinding certs -o name", stdout: "apibinding.apis.kcp.io/certs\n"},
		{line: "kcp claims get apibinding nothing", fails: true, stderr: "error: apibindings.apis.kcp.io \"nothing\" not found\n"},
		{line: "kcp claims get apibinding -w ..:empty", stdout: "APIBINDING   GROUP-RESOURCE   VERBS   STATUS\n"},
	})
}

func TestClaimsAnswer(t *testing.T) {
	cases := map[string]struct {
		reason string
		step   step
		// changed are the claims that are not as before, by index.
		changed map[int]string
		// conflicts is how often somebody else is faster.
		conflicts int
	}{
		"Present": {
			reason:  "an answer can be changed, and nothing else changes with it",
			step:    step{line: "kcp claims reject certs --resource secrets", stdout: "claim \"secrets\" on APIBinding \"certs\" is rejected\n"},
			changed: map[int]string{0: `{"resource": "secrets", "verbs": ["get"], "selector": {"matchAll": true}, "state": "Rejected"}`},
		},
		"Verbs": {
			reason: "what is accepted can be less than what is asked for; if it is nothing, that is said",
			step: step{line: "kcp claims accept certs --resource configmaps --verbs get+list --selector c=d,e", stdout: "claim \"configmaps\" on APIBinding \"certs\" is accepted\n",
				stderr: "warning: accepting configmaps for get,list gives no access, because the export asks for *: only verbs that both name are granted\n"},
			changed: map[int]string{1: `{"resource": "configmaps", "verbs": ["get", "list"], "selector": {"matchLabels": {"c": "d"}, "matchExpressions": [{"key": "e", "operator": "Exists"}]}, "state": "Accepted"}`},
		},
		"Missing": {
			reason:  "a claim that the export makes and the binding does not mention is added",
			step:    step{line: "kcp claims accept certs --identity-hash new", stdout: "claim \"gateways.gw.io\" on APIBinding \"certs\" is accepted\n"},
			changed: map[int]string{5: `{"group": "gw.io", "resource": "gateways", "identityHash": "new", "verbs": ["get"], "selector": {"matchAll": true}, "state": "Accepted"}`},
		},
		"HashWins": {
			reason:  "an identity says more than a resource",
			step:    step{line: "kcp claims reject certs --identity-hash old --resource secrets", stdout: "claim \"gateways.gw.io\" on APIBinding \"certs\" is rejected\n"},
			changed: map[int]string{2: `{"group": "gw.io", "resource": "gateways", "identityHash": "old", "verbs": ["*"], "selector": {"matchAll": true}, "state": "Rejected"}`},
		},
		"Conflict": {
			reason:    "who writes meanwhile loses nothing, and neither does this",
			step:      step{line: "kcp claims reject certs --resource events", stdout: "claim \"events\" on APIBinding \"certs\" is rejected\n"},
			changed:   map[int]string{4: `{"resource": "events", "verbs": ["list"], "selector": {"matchAll": true}, "state": "Rejected"}`},
			conflicts: 3,
		},
		"NoMatch": {
			reason: "success for nothing would be a lie",
			step: step{line: "kcp claims accept certs --resource secrets,pods", fails: true, stderr: "error: APIBinding \"certs\" has no claim pods\n" +
				"hint: there are secrets, configmaps, gateways.gw.io:old, namespaces, events, gateways.gw.io:new\n"},
		},
		"NoIdentity": {
			reason: "so would it be for an identity that nothing has",
			step: step{line: "kcp claims accept certs --identity-hash none", fails: true, stderr: "error: APIBinding \"certs\" has no claim none\n" +
				"hint: there are secrets, configmaps, gateways.gw.io:old, namespaces, events, gateways.gw.io:new\n"},
		},
		"Nothing": {
			reason: "which claims are meant has to be said",
			step: step{line: "kcp claims accept certs", fails: true, stderr: "error: which claims? --resource, --identity-hash or --all\n" +
				"usage: kubectl kcp claims accept BINDING [flags]\n"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := runAll(t, func(t *testing.T, s *server) {
				withAnswers(t, s)
				s.conflicts = tc.conflicts
			}, []step{tc.step})
			want := decode(t, answered).(object)["spec"].(object)["permissionClaims"].([]any)
			for i, claim := range tc.changed {
				if i == len(want) {
					want = append(want, nil)
				}
				want[i] = decode(t, claim)
			}
			if diff := cmp.Diff(want, s.objects[hereBindings+"certs"]["spec"].(object)["permissionClaims"]); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}

func TestClaimsAll(t *testing.T) {
	s := runAll(t, withAnswers, []step{{line: "kcp claims reject certs --all", stdout: `claim "secrets" on APIBinding "certs" is rejected
claim "configmaps" on APIBinding "certs" is rejected
claim "gateways.gw.io" on APIBinding "certs" is rejected
claim "namespaces" on APIBinding "certs" is rejected
claim "events" on APIBinding "certs" is rejected
claim "gateways.gw.io" on APIBinding "certs" is rejected
`}})
	for _, claim := range s.objects[hereBindings+"certs"]["spec"].(object)["permissionClaims"].([]any) {
		if claim.(object)["state"] != "Rejected" {
			t.Errorf("%v is not rejected", claim)
		}
	}
}
