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
	"github.com/forkless/kcp/internal/servertest/manifests"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
)

// everything is a definition, an object of it, and what exports and binds another one, in
// an order in which each needs the one before.
var everything = manifests.Cowboys + manifests.Cowboy("one") + manifests.Sheriffs("configmaps") + `---
apiVersion: apis.kcp.io/v1alpha2
kind: APIBinding
metadata: {name: mine}
spec:
  reference: {export: {name: sheriffs}}
` + manifests.Sheriff("two") + manifests.Workspace("below", "root", "universal")

func parse(t *testing.T, text string) []apply.Manifest {
	t.Helper()
	parsed, err := apply.Parse("all.yaml", []byte(text))
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
		if err := a.Apply(ctx, parse(t, everything)...); err != nil {
			t.Fatalf("applying for the %s time: %v", time, err)
		}
	}
	client := dynamic.NewForConfigOrDie(config)
	if _, err := client.Resource(servertest.Cowboys).Namespace("default").Get(ctx, "one", metav1.GetOptions{}); err != nil {
		t.Errorf("an object without a namespace belongs into default: %v", err)
	}

	t.Run("Bind", func(t *testing.T) {
		server.Workspace(t, "root", "consumer")
		consumer := server.In(t, "base", "root:consumer")
		if err := applier(t, consumer).Bind(ctx, "root:team", "sheriffs"); err != nil {
			t.Fatal(err)
		}
		bindings := dynamic.NewForConfigOrDie(consumer).Resource(apisv1alpha2.GroupVersion.WithResource("apibindings"))
		binding, err := bindings.Get(ctx, "sheriffs", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		status, _ := binding.Object["status"].(map[string]any)
		if applied, _ := status["appliedPermissionClaims"].([]any); len(applied) != 1 {
			t.Errorf("the claim of the export is not applied: %v", status)
		}
		if err := applier(t, consumer).Apply(ctx, parse(t, manifests.Sheriff("mine"))...); err != nil {
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
			want: []string{"all.yaml: document 2: Wodget x", "there is no kind Wodget in example.dev/v1 here"},
		},
		"Invalid": {
			reason: "the server says what is wrong", patience: servertest.Patience,
			text: "apiVersion: wildwest.dev/v1alpha1\nkind: Cowboy\nmetadata: {name: x}\nspec: {intent: 7}\n",
			want: []string{"all.yaml: document 1: Cowboy x", "spec.intent"},
		},
		"NeverBound": {
			reason: "what is waited for, when there is no more time", patience: time.Second,
			text: "apiVersion: apis.kcp.io/v1alpha2\nkind: APIExport\nmetadata: {name: broken}\nspec:\n  resources: [{name: wodgets, group: example.dev, schema: v1.wodgets.example.dev, storage: {crd: {}}}]\n" +
				"---\napiVersion: apis.kcp.io/v1alpha2\nkind: APIBinding\nmetadata: {name: broken}\nspec: {reference: {export: {name: broken}}}\n",
			want: []string{"all.yaml: document 2: APIBinding broken", `APIBinding broken: its phase is "Binding"`, "(waited ", "v1.wodgets.example.dev"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(ctx, tc.patience)
			defer cancel()
			err := applier(t, config).Apply(ctx, parse(t, tc.text)...)
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
