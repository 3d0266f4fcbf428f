package apply_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/forkless/kcp/internal/apply"
	"github.com/forkless/kcp/internal/servertest"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
)

// widgets are a definition, an object of it, and what exports and binds another one, in
// an order in which each needs the one before.
const widgets = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: widgets.example.dev
spec:
  group: example.dev
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {size: {type: integer}}}
---
apiVersion: example.dev/v1
kind: Widget
metadata: {name: one}
spec: {size: 1}
---
apiVersion: apis.kcp.io/v1alpha1
kind: APIResourceSchema
metadata: {name: v1.gadgets.example.dev}
spec:
  group: example.dev
  scope: Cluster
  names: {plural: gadgets, singular: gadget, kind: Gadget, listKind: GadgetList}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {type: object}
---
apiVersion: apis.kcp.io/v1alpha2
kind: APIExport
metadata: {name: gadgets}
spec:
  resources:
  - {name: gadgets, group: example.dev, schema: v1.gadgets.example.dev, storage: {crd: {}}}
  permissionClaims:
  - {resource: configmaps, verbs: ["get", "list"]}
---
apiVersion: apis.kcp.io/v1alpha2
kind: APIBinding
metadata: {name: mine}
spec:
  reference: {export: {name: gadgets}}
---
apiVersion: example.dev/v1
kind: Gadget
metadata: {name: two}
---
apiVersion: tenancy.kcp.io/v1alpha1
kind: Workspace
metadata: {name: below}
`

func manifests(t *testing.T, text string) []apply.Manifest {
	t.Helper()
	parsed, err := apply.Parse("widgets.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func applier(t *testing.T, config *rest.Config) *apply.Applier {
	t.Helper()
	a, err := apply.New(config)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestApply(t *testing.T) {
	server := servertest.Start(t, "--in-memory")
	server.Workspace(t, "root", "team")
	config := server.In(t, "base", "root:team")
	ctx, cancel := context.WithTimeout(t.Context(), servertest.Patience)
	defer cancel()

	a := applier(t, config)
	for _, time := range []string{"first", "second"} {
		if err := a.Apply(ctx, manifests(t, widgets)...); err != nil {
			t.Fatalf("applying for the %s time: %v", time, err)
		}
	}
	client := dynamic.NewForConfigOrDie(config)
	widget := apisv1alpha2.GroupVersion.WithResource("widgets")
	widget.Group, widget.Version = "example.dev", "v1"
	if _, err := client.Resource(widget).Namespace("default").Get(ctx, "one", metav1.GetOptions{}); err != nil {
		t.Errorf("an object without a namespace belongs into default: %v", err)
	}

	t.Run("Bind", func(t *testing.T) {
		server.Workspace(t, "root", "consumer")
		consumer := server.In(t, "base", "root:consumer")
		if err := applier(t, consumer).Bind(ctx, "root:team", "gadgets"); err != nil {
			t.Fatal(err)
		}
		bindings := dynamic.NewForConfigOrDie(consumer).Resource(apisv1alpha2.GroupVersion.WithResource("apibindings"))
		binding, err := bindings.Get(ctx, "gadgets", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		status, _ := binding.Object["status"].(map[string]any)
		if applied, _ := status["appliedPermissionClaims"].([]any); len(applied) != 1 {
			t.Errorf("the claim of the export is not applied: %v", status)
		}
		if err := applier(t, consumer).Apply(ctx, manifests(t, "apiVersion: example.dev/v1\nkind: Gadget\nmetadata: {name: mine}\n")...); err != nil {
			t.Errorf("what was bound cannot be used: %v", err)
		}
	})

	for name, tc := range map[string]struct {
		reason, text string
		patience     time.Duration
		want         []string
	}{
		"UnknownKind": {
			reason: "which document, and which kind", patience: servertest.Patience,
			text: "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: fine}\n---\napiVersion: example.dev/v1\nkind: Wodget\nmetadata: {name: x}\n",
			want: []string{"widgets.yaml: document 2: Wodget x", "there is no kind Wodget in example.dev/v1 here"},
		},
		"Invalid": {
			reason: "the server says what is wrong", patience: servertest.Patience,
			text: "apiVersion: example.dev/v1\nkind: Widget\nmetadata: {name: x}\nspec: {size: large}\n",
			want: []string{"widgets.yaml: document 1: Widget x", "spec.size"},
		},
		"NeverBound": {
			reason: "what is waited for, when there is no more time", patience: time.Second,
			text: "apiVersion: apis.kcp.io/v1alpha2\nkind: APIExport\nmetadata: {name: broken}\nspec:\n  resources: [{name: wodgets, group: example.dev, schema: v1.wodgets.example.dev, storage: {crd: {}}}]\n" +
				"---\napiVersion: apis.kcp.io/v1alpha2\nkind: APIBinding\nmetadata: {name: broken}\nspec: {reference: {export: {name: broken}}}\n",
			want: []string{"widgets.yaml: document 2: APIBinding broken", `APIBinding broken: its phase is "Binding"`, "(waited ", "v1.wodgets.example.dev"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(ctx, tc.patience)
			defer cancel()
			err := applier(t, config).Apply(ctx, manifests(t, tc.text)...)
			if err == nil {
				t.Fatalf("%s: there was no error", tc.reason)
			}
			for _, want := range tc.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%s: %q is not in %q", tc.reason, want, err)
				}
			}
			if tc.patience < servertest.Patience && !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("callers cannot tell that time ran out: %v", err)
			}
		})
	}
}
