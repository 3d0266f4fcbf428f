package kcpplugin

import "testing"

// withObjects has a binding with objects of one of its two resources; the other may not
// be seen.
func withObjects(t *testing.T, s *server) {
	s.put(t, hereBindings+"certs", `{"spec": {"reference": {"export": {"path": "root:platform", "name": "certs"}}},
		"status": {"phase": "Bound", "boundResources": [
			{"group": "cert-manager.io", "resource": "certificates"}, {"group": "acme.io", "resource": "orders"}]}}`)
	s.put(t, hereBindings+"kept", `{"metadata": {"annotations": {"cli.kcp.io/protected": "it is needed"}}, "spec": {"reference": {"export": {"path": "root:platform", "name": "kept"}}}}`)
	s.put(t, "root:here/apis/cert-manager.io/v1/certificates/a", `{}`)
	s.put(t, "root:here/apis/cert-manager.io/v1/certificates/b", `{}`)
	s.forbidden = []string{"root:here/apis/acme.io"}
}

// goAway makes the deletion of the binding take some looks.
func goAway(s *server, looks int) {
	s.read = func(path string, o object) bool {
		if path != hereBindings+"certs" || o["metadata"].(object)["deletionTimestamp"] == nil {
			return true
		}
		o["status"].(object)["conditions"] = []any{object{"type": "BindingResourceDeleteSuccess", "status": "False",
			"reason": "SomeFinalizersRemain", "message": "Some content in the workspace has finalizers remaining: acme.io/held in 2 resource instances"}}
		looks--
		return looks > 0
	}
}

func TestUnbind(t *testing.T) {
	const preview = `certs in root:here (export root:platform:certs)
  2 objects   certificates.cert-manager.io
  ? objects   orders.acme.io
Type certs to delete all of this: `
	cases := map[string]struct {
		reason string
		step   step
		looks  int
		// deleted says that the deletion has begun.
		deleted bool
	}{
		"Typed": {
			reason: "what goes is shown, what may not be counted as well, and the name is asked for",
			step:   step{line: "kcp unbind certs --quiet", typed: "certs\n", stdout: "apibinding.apis.kcp.io \"certs\" deleted\n", stderr: preview},
			looks:  2, deleted: true,
		},
		"Mistyped": {
			reason: "another answer is no",
			step:   step{line: "kcp unbind certs", typed: "yes\n", fails: true, stderr: preview + "error: that is not the name, so nothing was deleted\n"},
		},
		"Nobody": {
			reason: "without anybody to ask nothing is deleted",
			step: step{line: "kcp unbind certs", fails: true,
				stderr: "error: deleting certs has to be confirmed, and there is nobody to ask\nhint: --yes deletes without asking\n"},
		},
		"Yes": {
			reason: "unless a flag says so",
			step:   step{line: "kcp unbind certs --yes --quiet", stdout: "apibinding.apis.kcp.io \"certs\" deleted\n"},
			looks:  1, deleted: true,
		},
		"Held": {
			reason: "who waits in vain learns what for",
			step: step{line: "kcp unbind certs --yes --timeout 30ms --quiet", fails: true,
				stderr: "error: apibinding certs is not gone after 0.03s: Some content in the workspace has finalizers remaining: acme.io/held in 2 resource instances\n" +
					"hint: kubectl kcp debug binding certs\n"},
			looks: 1000, deleted: true,
		},
		"Protected": {
			reason: "what is protected takes its name",
			step:   step{line: "kcp unbind kept --yes", fails: true, stderr: "error: kept is protected: it is needed\nhint: --yes=kept deletes it all the same\n"},
		},
		"NoWait": {
			reason: "the deletion goes on without anybody looking",
			step:   step{line: "kcp unbind certs --yes --wait=false", stdout: "apibinding.apis.kcp.io \"certs\" deleted\n"},
			looks:  1000, deleted: true,
		},
		"Absent": {
			reason: "there is nothing to delete",
			step:   step{line: "kcp unbind nothing --yes", fails: true, stderr: "error: apibindings.apis.kcp.io \"nothing\" not found\n"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := runAll(t, func(t *testing.T, s *server) {
				withObjects(t, s)
				goAway(s, tc.looks)
			}, []step{tc.step})
			deleted := s.objects[hereBindings+"certs"]["metadata"].(object)["deletionTimestamp"] != nil
			if deleted != tc.deleted {
				t.Errorf("%s: deletion has begun: %v", tc.reason, deleted)
			}
		})
	}
}
