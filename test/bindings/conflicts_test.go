package bindings

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/forkless/kcp/internal/servertest"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
)

func twice(t *testing.T, server *servertest.Server) {
	p, other, c := provider(t, server), provider(t, server), newWorkspace(t, server)
	other.schemaFor("today", "horses", nil)
	other.export("both", "today.cowboys."+group, "today.horses."+group)
	c.bind("first", p, "cowboys")
	c.put(cowboys, "billy")
	c.create(bindings, "APIBinding", newBinding("second", other.path, "both"))
	message := c.says("second", apisv1alpha1.InitialBindingCompleted, apisv1alpha1.ReasonNamingConflicts)
	if want := `Unable to bind APIs because they are bound by other APIBindings or CRDs: cowboys.wildwest.dev by APIBinding "first" bound to APIExport ` + p.path + `:cowboys`; message != want {
		t.Errorf("says %q, want %q", message, want)
	}
	b := c.binding("second", "what is free is bound", func(b *apisv1alpha2.APIBinding) bool { return len(b.Status.BoundResources) == 1 })
	if b.Status.Phase != apisv1alpha2.APIBindingPhaseBinding || b.Status.BoundResources[0].Resource != "horses" {
		t.Errorf("got %+v", b.Status)
	}
	c.put(horses, "jolly")
	c.put(cowboys, "jane")

	c.delete(bindings, "", "first")
	c.gone(bindings, "", "first")
	b = c.bound("second")
	if diff := cmp.Diff([]string{"cowboys", "horses"}, resources(b)); diff != "" {
		t.Errorf("all is bound then (-want +got):\n%s", diff)
	}
	if n := c.count(cowboys); n != 0 {
		t.Errorf("%d objects of another provider are seen", n)
	}
	if got, want := c.locks(), `{"cowboys.wildwest.dev":{"n":"second"},"horses.wildwest.dev":{"n":"second"}}`; got != want {
		t.Errorf("locks are %s, want %s", got, want)
	}
}

func againstADefinition(t *testing.T, server *servertest.Server) {
	p, c := provider(t, server), newWorkspace(t, server)
	c.define("cowboys")
	c.definition("cowboys", apiextensionsv1.Established, apiextensionsv1.ConditionTrue)
	if got, want := c.locks(), `{"cowboys.wildwest.dev":{"c":true}}`; got != want {
		t.Errorf("locks are %s, want %s", got, want)
	}
	c.put(cowboys, "own")
	c.create(bindings, "APIBinding", newBinding("cowboys", p.path, "cowboys"))
	message := c.says("cowboys", apisv1alpha1.InitialBindingCompleted, apisv1alpha1.ReasonNamingConflicts)
	if want := `Unable to bind APIs because they are bound by other APIBindings or CRDs: cowboys.wildwest.dev by CustomResourceDefinition "cowboys.wildwest.dev"`; message != want {
		t.Errorf("says %q, want %q", message, want)
	}
	c.put(cowboys, "second")
	if n := c.count(cowboys); n != 2 {
		t.Errorf("%d objects of the definition are served, want 2", n)
	}
	c.delete(definitions, "", "cowboys."+group)
	c.bound("cowboys")
	if n := c.count(cowboys); n != 0 {
		t.Errorf("%d objects of the definition are left", n)
	}
	if got, want := c.locks(), `{"cowboys.wildwest.dev":{"n":"cowboys"}}`; got != want {
		t.Errorf("locks are %s, want %s", got, want)
	}
}

func beforeADefinition(t *testing.T, server *servertest.Server) {
	p, c := provider(t, server), newWorkspace(t, server)
	c.bind("cowboys", p, "cowboys")
	c.put(cowboys, "bound")
	c.define("cowboys")
	c.definition("cowboys", apiextensionsv1.NamesAccepted, apiextensionsv1.ConditionFalse)
	c.definition("cowboys", apiextensionsv1.Established, apiextensionsv1.ConditionFalse)
	if n := c.count(cowboys); n != 1 {
		t.Errorf("%d bound objects, want 1", n)
	}
	c.delete(bindings, "", "cowboys")
	c.definition("cowboys", apiextensionsv1.Established, apiextensionsv1.ConditionTrue)
	servertest.Eventually(t, "the definition is served", func() (bool, any) {
		n := c.count(cowboys)
		return n == 0, n
	})
}

func ofTheSameKind(t *testing.T, server *servertest.Server) {
	p, c := provider(t, server), newWorkspace(t, server)
	p.schemaFor("today", "buckaroos", nil, func(s *apisv1alpha1.APIResourceSchema) {
		s.Spec.Names.Kind = "Cowboy"
	})
	p.export("buckaroos", "today.buckaroos."+group)
	p.schemaFor("today", "cowboys", nil, func(s *apisv1alpha1.APIResourceSchema) {
		s.Name, s.Spec.Group = "today.cowboys.tamewest.dev", "tamewest.dev"
	})
	p.export("tame", "today.cowboys.tamewest.dev")
	c.bind("cowboys", p, "cowboys")
	c.create(bindings, "APIBinding", newBinding("buckaroos", p.path, "buckaroos"))
	message := c.says("buckaroos", apisv1alpha1.InitialBindingCompleted, apisv1alpha1.ReasonNamingConflicts)
	if want := `Unable to bind APIs: naming conflict with APIBinding "cowboys" bound to APIExport ` + p.path + `:cowboys: spec.names.kind=Cowboy is forbidden`; message != want {
		t.Errorf("says %q, want %q", message, want)
	}
	c.bind("tame", p, "tame")
	c.delete(bindings, "", "cowboys")
	c.bound("buckaroos")
}

func ofBuiltInGroups(t *testing.T, server *servertest.Server) {
	p, c := newWorkspace(t, server), newWorkspace(t, server)
	for i, test := range []struct{ group, plural, kind, want string }{
		{"", "configmaps", "ConfigMap", "naming conflict with the built-in API configmaps: spec.names.plural=configmaps is forbidden"},
		{"", "settings", "Secret", "naming conflict with the built-in API secrets: spec.names.kind=Secret is forbidden"},
		{"rbac.authorization.k8s.io", "roles", "Role", "spec.names.plural=roles is forbidden"},
		{"tenancy.kcp.io", "workspaces", "Workspace", "spec.names.plural=workspaces is forbidden"},
	} {
		name := fmt.Sprintf("export-%d", i)
		suffix := test.plural + "." + test.group
		if test.group == "" {
			suffix = test.plural + ".core"
		}
		p.schemaFor("today", "things", nil, func(s *apisv1alpha1.APIResourceSchema) {
			s.Name, s.Spec.Group = "today."+suffix, test.group
			s.Spec.Names = apiextensionsv1.CustomResourceDefinitionNames{
				Plural: test.plural, Singular: strings.TrimSuffix(test.plural, "s"), Kind: test.kind, ListKind: test.kind + "List",
			}
			s.Annotations = map[string]string{"api-approved.kubernetes.io": "unapproved, a test"}
		})
		export := &apisv1alpha2.APIExport{}
		export.Name = name
		export.Spec.Resources = []apisv1alpha2.ResourceSchema{{
			Name: test.plural, Group: test.group, Schema: "today." + suffix,
			Storage: apisv1alpha2.ResourceSchemaStorage{CRD: &apisv1alpha2.ResourceSchemaStorageCRD{}},
		}}
		p.exportOf(export)
		c.create(bindings, "APIBinding", newBinding(name, p.path, name))
		if message := c.says(name, apisv1alpha1.InitialBindingCompleted, apisv1alpha1.ReasonNamingConflicts); !strings.Contains(message, test.want) {
			t.Errorf("says %q, want %q", message, test.want)
		}
	}
}

// takeTurns creates bindings and definitions of one resource at the same moment, many
// times: just one of them gets it.
func takeTurns(t *testing.T, server *servertest.Server) {
	const rounds = 20
	p, other := provider(t, server), provider(t, server)
	c := newWorkspace(t, server)
	for round := range rounds {
		done := make(chan struct{}, 3)
		for _, create := range []func(){
			func() { c.create(bindings, "APIBinding", newBinding("a", p.path, "cowboys")) },
			func() { c.create(bindings, "APIBinding", newBinding("b", other.path, "cowboys")) },
			func() { c.define("cowboys") },
		} {
			go func() {
				create()
				done <- struct{}{}
			}()
		}
		for range 3 {
			<-done
		}
		var seen string
		servertest.Eventually(t, "one of them has it, and the others say so", func() (bool, any) {
			seen = c.holders()
			return seen == "a" || seen == "b" || seen == "c", fmt.Sprintf("round %d: %q, %s", round, seen, c.locks())
		})
		want := map[string]string{"a": `{"n":"a"}`, "b": `{"n":"b"}`, "c": `{"c":true}`}[seen]
		if got := c.locks(); got != `{"cowboys.wildwest.dev":`+want+`}` {
			t.Fatalf("%s has it, and locks are %s", seen, got)
		}
		c.put(cowboys, "billy")
		// Each of them gets it in the end, and finds nothing of the others.
		c.delete(bindings, "", "a")
		c.delete(bindings, "", "b")
		c.delete(definitions, "", "cowboys."+group)
		c.gone(bindings, "", "a")
		c.gone(bindings, "", "b")
		c.gone(definitions, "", "cowboys."+group)
		if got := c.locks(); got != `{}` {
			t.Fatalf("all are gone, and locks are %s", got)
		}
	}
}
