package lifecycle

import (
	"context"
	"testing"

	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"

	"github.com/forkless/kcp/internal/authn/identity"
	"github.com/forkless/kcp/internal/route"
	"github.com/forkless/kcp/pkg/logicalcluster"
	"github.com/forkless/kcp/pkg/tenancy"
)

// policy lets alice use one verb on one type in one cluster.
type policy struct {
	cluster, verb, name string
	asked               int
}

func (p *policy) Authorize(ctx context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	p.asked++
	cluster, _ := logicalcluster.FromContext(ctx)
	if a.GetUser().GetName() == "alice" && cluster.String() == p.cluster && a.GetVerb() == p.verb && a.GetName() == p.name &&
		a.GetAPIGroup() == "tenancy.kcp.io" && a.GetResource() == "workspacetypes" && a.GetSubresource() == "" && a.IsResourceRequest() {
		return authorizer.DecisionAllow, "", nil
	}
	return authorizer.DecisionNoOpinion, "", nil
}

func TestAuthorize(t *testing.T) {
	alice := &user.DefaultInfo{Name: "alice"}
	admin := &user.DefaultInfo{Name: "bob", Groups: []string{identity.Admin}}
	limited := &user.DefaultInfo{Name: "bob", Groups: []string{identity.Admin}, Extra: map[string][]string{
		identity.ScopesKey: {identity.Scope(logicalcluster.MustParseName("elsewhere"))},
	}}
	for name, tc := range map[string]struct {
		reason string
		kind   tenancy.HookKind
		id     string
		user   user.Info
		allow  bool
		asked  int
	}{
		"Initializer":   {reason: "the verb on the type, in its cluster, is asked for", kind: tenancy.Initializing, id: "home:x", user: alice, allow: true, asked: 1},
		"Terminator":    {reason: "which is another one for terminators", kind: tenancy.Terminating, id: "home:x", user: alice, asked: 1},
		"OtherType":     {reason: "another type is another one", kind: tenancy.Initializing, id: "home:y", user: alice, asked: 1},
		"OtherCluster":  {reason: "so is one of the name elsewhere", kind: tenancy.Initializing, id: "away:x", user: alice, asked: 1},
		"Other":         {reason: "nobody else may", kind: tenancy.Initializing, id: "home:x", user: &user.DefaultInfo{Name: "eve"}, asked: 1},
		"Path":          {reason: "a path names no cluster", kind: tenancy.Initializing, id: "root:home:x", user: alice},
		"NoType":        {reason: "nor does a cluster name a type", kind: tenancy.Initializing, id: "home", user: alice},
		"Empty":         {reason: "or nothing", kind: tenancy.Initializing, id: "home:", user: alice},
		"Admin":         {reason: "administrators of everything pass", kind: tenancy.Terminating, id: "away:z", user: admin, allow: true},
		"LimitedAdmin":  {reason: "but not where they are not themselves", kind: tenancy.Terminating, id: "away:z", user: limited, asked: 1},
		"System":        {reason: "hooks of the server are nobody's", kind: tenancy.Initializing, id: "system:apibindings", user: alice},
		"SystemAdmin":   {reason: "but administrators'", kind: tenancy.Initializing, id: "system:apibindings", user: admin, allow: true},
		"SystemLimited": {reason: "who are themselves", kind: tenancy.Initializing, id: "system:apibindings", user: limited},
	} {
		t.Run(name, func(t *testing.T) {
			asked := &policy{cluster: "home", verb: "initialize", name: "x"}
			w := New(tc.kind, Config{Authorizer: asked})
			ctx := logicalcluster.NewContext(t.Context(), logicalcluster.Wildcard)
			ctx = route.NewVirtualContext(ctx, route.VirtualWorkspace{Name: w.Name(), Segments: []string{tc.id}, Home: w.Home(tc.id)})
			decision, text, err := w.Authorize(ctx, authorizer.AttributesRecord{User: tc.user, Verb: "delete", Resource: "anything", ResourceRequest: true})
			if err != nil || (decision == authorizer.DecisionAllow) != tc.allow || asked.asked != tc.asked {
				t.Errorf("%s: got %v %v, asked %d times", tc.reason, decision, err, asked.asked)
			}
			if !tc.allow && text != denied {
				t.Errorf("%s: it says %q", tc.reason, text)
			}
		})
	}
}

func TestHome(t *testing.T) {
	for id, want := range map[string]string{
		"root:universal": "root", "0123456789abcdef:x": "0123456789abcdef", "system:apibindings": "system:admin",
		"root:org:x": "", "*:x": "", "x": "", ":x": "", "root:": "", "Root:x": "", "../root:x": "", "": "",
	} {
		if got := New(tenancy.Initializing, Config{}).Home(id); got.String() != want {
			t.Errorf("%q is at home in %q, not in %q", id, got, want)
		}
	}
}
