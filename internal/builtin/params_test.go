package builtin

import (
	"context"
	"errors"
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authorization/authorizer"
)

type clusterKey struct{}

func TestParamsAskForTheResourceOfTheRequestsCluster(t *testing.T) {
	inCluster := func(name string) context.Context {
		return context.WithValue(t.Context(), clusterKey{}, name)
	}
	byCluster := func(ctx context.Context, kind schema.GroupVersionKind) (schema.GroupVersionResource, error) {
		if ctx.Value(clusterKey{}) == "a" && kind.Kind == "Limit" {
			return kind.GroupVersion().WithResource("limits"), nil
		}
		return schema.GroupVersionResource{}, errors.New("no such kind")
	}
	cases := map[string]struct {
		reason string
		ctx    context.Context
		kinds  KindResolver
		want   string
	}{
		"Known": {
			reason: "A kind the cluster serves needs access to its resource only.",
			ctx:    inCluster("a"), kinds: byCluster, want: "limits",
		},
		"ElsewhereOnly": {
			reason: "A kind only another cluster serves is unknown here: access to the whole group is needed.",
			ctx:    inCluster("b"), kinds: byCluster, want: "*",
		},
		"NoResolver": {
			reason: "Without a resolver the stricter question is asked.",
			ctx:    inCluster("a"), want: "*",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			asked := &question{}
			p := params{Authorizer: asked, kinds: tc.kinds}
			resource, err := p.Resolve(schema.GroupVersionKind{Group: "x.io", Version: "v1", Kind: "Limit"})
			if err != nil {
				t.Fatal(err)
			}
			_, _, err = p.Authorize(tc.ctx, authorizer.AttributesRecord{
				Verb: "get", APIGroup: resource.Group, APIVersion: resource.Version, Resource: resource.Resource, ResourceRequest: true,
			})
			if err != nil {
				t.Fatal(err)
			}
			if got := asked.attributes.GetResource(); got != tc.want {
				t.Errorf("%s\nasked for %q, want %q", tc.reason, got, tc.want)
			}
			if got := asked.attributes; got.GetAPIGroup() != "x.io" || got.GetVerb() != "get" {
				t.Errorf("the rest of the question changed: %+v", got)
			}
		})
	}
}

type question struct{ attributes authorizer.Attributes }

func (r *question) Authorize(_ context.Context, attributes authorizer.Attributes) (authorizer.Decision, string, error) {
	r.attributes = attributes
	return authorizer.DecisionAllow, "", nil
}
