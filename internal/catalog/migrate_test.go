package catalog_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apiserver/pkg/storage"

	"github.com/forkless/kcp/internal/catalog"
	"github.com/forkless/kcp/internal/catalog/compiled"
	"github.com/forkless/kcp/internal/conversion"
	"github.com/forkless/kcp/internal/schema"
	kcpstorage "github.com/forkless/kcp/internal/storage"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

var gadgets = kcpstorage.Resource{
	GroupResource: apischema.GroupResource{Group: "example.com", Resource: "gadgets"},
	Identity:      strings.Repeat("ab", 32),
}

const (
	gadgetsV1 = "/clusters/one/apis/example.com/v1/namespaces/default/gadgets"
	gadgetsV2 = "/clusters/one/apis/example.com/v2/namespaces/default/gadgets"
)

// gadgetVersion is a version whose spec has a field.
func gadgetVersion(name, field string, stored bool) apisv1alpha1.APIResourceVersion {
	return apisv1alpha1.APIResourceVersion{Name: name, Served: true, Storage: stored, Schema: runtime.RawExtension{
		Raw: []byte(`{"type":"object","properties":{"spec":{"type":"object","properties":{"` + field + `":{"type":"string"},"old":{"type":"string"}}}}}`),
	}}
}

func gadgetSchema(uid string, versions ...apisv1alpha1.APIResourceVersion) *apisv1alpha1.APIResourceSchema {
	s := &apisv1alpha1.APIResourceSchema{
		ObjectMeta: metav1.ObjectMeta{Name: "v" + uid + ".gadgets.example.com"},
		Spec: apisv1alpha1.APIResourceSchemaSpec{
			Group: gadgets.Group,
			Names: apiextensionsv1.CustomResourceDefinitionNames{Plural: gadgets.Resource, Singular: "gadget", Kind: "Gadget", ListKind: "GadgetList"},
			Scope: apiextensionsv1.NamespaceScoped, Versions: versions,
		},
	}
	s.UID = types.UID(uid)
	if len(versions) > 1 {
		s.Spec.Conversion = &apisv1alpha1.CustomResourceConversion{Strategy: apisv1alpha1.ConversionNone}
	}
	return s
}

// renamed moves the field of v1 to that of v2, in capitals, and refuses those that begin
// with an x.
func renamed() *apisv1alpha1.APIConversion {
	return &apisv1alpha1.APIConversion{Spec: apisv1alpha1.APIConversionSpec{Conversions: []apisv1alpha1.APIVersionConversion{
		{From: "v1", To: "v2", Rules: []apisv1alpha1.APIConversionRule{
			{Field: "spec.a", Destination: "spec.b", Transformation: "self.startsWith('x') ? ['never'][1] : self.upperAscii()"},
		}},
		{From: "v2", To: "v1", Rules: []apisv1alpha1.APIConversionRule{
			{Field: "spec.b", Destination: "spec.a", Transformation: "self.lowerAscii()"},
		}},
	}}}
}

func servedGadgets(t testing.TB, s *apisv1alpha1.APIResourceSchema, rules *apisv1alpha1.APIConversion) []schema.Served {
	t.Helper()
	crd, err := schema.BoundCRD(s, logicalcluster.Root, rules)
	if err != nil {
		t.Fatal(err)
	}
	definition, err := schema.New(crd)
	if err != nil {
		t.Fatal(err)
	}
	return []schema.Served{{
		Definition: definition, Identity: gadgets.Identity,
		Export: schema.Export{Cluster: logicalcluster.Root, Name: "gadgets", IdentityHash: gadgets.Identity},
	}}
}

// withRules makes a catalog convert by rules, as the server does.
func withRules(config *catalog.Config) {
	config.Converter = func(served schema.Served) (compiled.Converter, error) {
		if served.Definition.Rules == nil {
			return nil, nil
		}
		return conversion.Compile(served.Definition.Rules, conversion.VersionsOfDefinition(served.Definition.CRD))
	}
}

// oldGadgets returns a server on which cluster one has count gadgets that were written
// before there was v2, which is what is stored now.
func oldGadgets(t *testing.T, count int) *server {
	t.Helper()
	s := newServer(t, withRules)
	s.Bind(one, "gadgets", 1, servedGadgets(t, gadgetSchema("1", gadgetVersion("v1", "a", true)), nil))
	for i := range count {
		s.must(http.StatusCreated, "POST", gadgetsV1, gadget("v1", i, fmt.Sprintf("a: color%d", i)))
	}
	s.Bind(one, "gadgets", 2, servedGadgets(t, gadgetSchema("2", gadgetVersion("v1", "a", false), gadgetVersion("v2", "b", true)), renamed()))
	return s
}

func gadget(version string, i int, spec string) string {
	return fmt.Sprintf("{apiVersion: example.com/%s, kind: Gadget, metadata: {name: g%d, namespace: default}, spec: {%s}}", version, i, spec)
}

// storedVersions counts gadgets by the version they are stored in.
func (s *server) storedVersions() map[string]int {
	s.t.Helper()
	store, ok := s.layer.Store(gadgets)
	if !ok {
		s.t.Fatal("the store is not open")
	}
	list := &unstructured.UnstructuredList{}
	ctx := logicalcluster.NewContext(s.t.Context(), one)
	if err := store.GetList(ctx, gadgets.Prefix(), storage.ListOptions{Recursive: true, Predicate: storage.Everything}, list); err != nil {
		s.t.Fatal(err)
	}
	versions := map[string]int{}
	for i := range list.Items {
		versions[list.Items[i].GroupVersionKind().Version]++
	}
	return versions
}

func TestMigrate(t *testing.T) {
	s := oldGadgets(t, 3)
	before := s.must(http.StatusOK, "GET", gadgetsV2+"/g1", "")
	if got := before.field("spec", "b"); got != "COLOR1" {
		t.Errorf("before it is migrated: %s", before)
	}
	names, err := s.StaleObjects(t.Context(), one, gadgets.GroupResource)
	if err != nil || len(names) != 3 {
		t.Fatalf("stale: %v, error %v", names, err)
	}
	for _, want := range []bool{true, false} {
		migrated, err := s.Migrate(t.Context(), one, gadgets.GroupResource, names[1])
		if err != nil || migrated != want {
			t.Errorf("migrated %t, error %v; want %t: an object is written once", migrated, err, want)
		}
	}
	if got := s.storedVersions(); got["v1"] != 2 || got["v2"] != 1 {
		t.Errorf("stored: %v", got)
	}
	after := s.must(http.StatusOK, "GET", gadgetsV2+"/g1", "")
	withoutVersion := func(r response) string {
		r.object.SetResourceVersion("")
		raw, err := json.Marshal(r.object.Object)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	if before, after := withoutVersion(before), withoutVersion(after); before != after {
		t.Errorf("clients see a change:\n%s\n%s", before, after)
	}
	if got := s.must(http.StatusOK, "GET", gadgetsV1+"/g1", "").field("spec", "a"); got != "color1" {
		t.Errorf("in the old version: %s", got)
	}
	if migrated, err := s.Migrate(t.Context(), one, gadgets.GroupResource, kcpstorage.ObjectName{Namespace: "default", Name: "none"}); migrated || err != nil {
		t.Errorf("what is gone: migrated %t, error %v", migrated, err)
	}
	if migrated, err := s.Migrate(t.Context(), two, gadgets.GroupResource, names[0]); migrated || err != nil {
		t.Errorf("in a cluster that has not bound it: migrated %t, error %v", migrated, err)
	}
}

func TestMigrateWhatCannotBeConverted(t *testing.T) {
	s := newServer(t, withRules)
	s.Bind(one, "gadgets", 1, servedGadgets(t, gadgetSchema("1", gadgetVersion("v1", "a", true)), nil))
	s.must(http.StatusCreated, "POST", gadgetsV1, gadget("v1", 1, "a: xcolor"))
	s.Bind(one, "gadgets", 2, servedGadgets(t, gadgetSchema("2", gadgetVersion("v1", "a", false), gadgetVersion("v2", "b", true)), renamed()))
	name := kcpstorage.ObjectName{Namespace: "default", Name: "g1"}
	migrated, err := s.Migrate(t.Context(), one, gadgets.GroupResource, name)
	if migrated || !catalog.IsUnconvertible(err) || !strings.Contains(fmt.Sprint(err), "['never'][1]") {
		t.Errorf("migrated %t, error %v", migrated, err)
	}
	// It can be read as it is, and deleted; a version that it cannot be shown in says why.
	s.must(http.StatusOK, "GET", gadgetsV1+"/g1", "")
	if r := s.must(http.StatusInternalServerError, "GET", gadgetsV2+"/g1", ""); !strings.Contains(r.body, `Gadget.example.com \"default/g1\"`) {
		t.Errorf("got %s", r)
	}
	// Who writes such an object is told that it is invalid.
	if r := s.must(http.StatusUnprocessableEntity, "POST", gadgetsV1, gadget("v1", 2, "a: xother")); !strings.Contains(r.body, "spec.b") {
		t.Errorf("got %s", r)
	}
	// It can be changed where it stays what it is, so that a finalizer can be taken from it.
	merge := header{"Content-Type", "application/merge-patch+json"}
	s.must(http.StatusOK, "PATCH", gadgetsV1+"/g1", `{"metadata": {"finalizers": ["example.com/f"]}}`, merge)
	s.must(http.StatusOK, "DELETE", gadgetsV1+"/g1", "")
	s.must(http.StatusOK, "PATCH", gadgetsV1+"/g1", `{"metadata": {"finalizers": null}}`, merge)
	s.must(http.StatusNotFound, "GET", gadgetsV1+"/g1", "")
}

// TestWhatCouldNotBeReadIsNotWritten: whoever writes an object in the version that is
// stored cannot keep others from listing in another one.
func TestWhatCouldNotBeReadIsNotWritten(t *testing.T) {
	s := newServer(t, withRules)
	back := renamed()
	back.Spec.Conversions[1].Rules[0].Transformation = "self.startsWith('Y') ? ['never'][1] : self.lowerAscii()"
	both := []apisv1alpha1.APIResourceVersion{gadgetVersion("v1", "a", false), gadgetVersion("v2", "b", true)}
	s.Bind(one, "gadgets", 1, servedGadgets(t, gadgetSchema("1", both...), renamed()))
	s.must(http.StatusCreated, "POST", gadgetsV2, gadget("v2", 1, "b: YELLOW"))
	s.must(http.StatusCreated, "POST", gadgetsV2, gadget("v2", 2, "b: NAVY"))

	s.Bind(one, "gadgets", 2, servedGadgets(t, gadgetSchema("2", both...), back))
	if r := s.must(http.StatusUnprocessableEntity, "POST", gadgetsV2, gadget("v2", 3, "b: YELLOW")); !strings.Contains(r.body, "from v2 to v1") {
		t.Errorf("got %s", r)
	}
	merge := header{"Content-Type", "application/merge-patch+json"}
	s.must(http.StatusUnprocessableEntity, "PATCH", gadgetsV2+"/g2", `{"spec": {"b": "YELLOW"}}`, merge)
	// What is there already can be changed, and mended.
	s.must(http.StatusInternalServerError, "GET", gadgetsV1, "")
	s.must(http.StatusOK, "PATCH", gadgetsV2+"/g1", `{"metadata": {"labels": {"a": "b"}}}`, merge)
	s.must(http.StatusOK, "PATCH", gadgetsV2+"/g1", `{"spec": {"b": "NAVY"}}`, merge)
	s.must(http.StatusOK, "GET", gadgetsV1, "")
}

func TestMigrateWhatHasNoVersionAnyMore(t *testing.T) {
	s := oldGadgets(t, 1)
	name := kcpstorage.ObjectName{Namespace: "default", Name: "g0"}
	// A schema without the version that it is stored in cannot show it at all.
	s.Bind(one, "gadgets", 3, servedGadgets(t, gadgetSchema("3", gadgetVersion("v2", "b", true), gadgetVersion("v3", "b", false)), nil))
	if migrated, err := s.Migrate(t.Context(), one, gadgets.GroupResource, name); migrated || !catalog.IsUnconvertible(err) {
		t.Errorf("migrated %t, error %v", migrated, err)
	}
	s.Bind(one, "gadgets", 4, servedGadgets(t, gadgetSchema("2", gadgetVersion("v1", "a", false), gadgetVersion("v2", "b", true)), renamed()))
	s.must(http.StatusOK, "DELETE", gadgetsV1+"/g0", "")
}

// TestMigrateBesideWriters: neither a write of a client nor an object is lost to a
// migration at the same time.
func TestMigrateBesideWriters(t *testing.T) {
	const count = 50
	s := oldGadgets(t, count)
	var wait sync.WaitGroup
	wait.Go(func() {
		names, err := s.StaleObjects(t.Context(), one, gadgets.GroupResource)
		if err != nil {
			t.Error(err)
		}
		for _, name := range names {
			if _, err := s.Migrate(t.Context(), one, gadgets.GroupResource, name); err != nil {
				t.Error(err)
			}
		}
	})
	for i := range count {
		url, body := gadgetsV1, `{"spec": {"a": "changed"}}`
		if i%2 == 0 {
			url, body = gadgetsV2, `{"spec": {"b": "CHANGED"}}`
		}
		s.must(http.StatusOK, "PATCH", fmt.Sprintf("%s/g%d", url, i), body, header{"Content-Type", "application/merge-patch+json"})
	}
	wait.Wait()
	if got := s.storedVersions(); got["v2"] != count || len(got) != 1 {
		t.Errorf("stored: %v", got)
	}
	for i := range count {
		if got := s.must(http.StatusOK, "GET", fmt.Sprintf("%s/g%d", gadgetsV1, i), "").field("spec", "a"); got != "changed" {
			t.Errorf("g%d: %s", i, got)
		}
	}
}

func TestNothingElseIsMigrated(t *testing.T) {
	s := newServer(t, withRules)
	s.define(one, "widgets")
	s.must(http.StatusCreated, "POST", widgetsURL, widget("a", "color: red"))
	s.Bind(one, "gadgets", 1, servedGadgets(t, gadgetSchema("1", gadgetVersion("v1", "a", true)), nil))
	if got := s.Migratable(one); len(got) != 0 {
		t.Errorf("%v: what is not bound, and what has one version, is left alone", got)
	}
	s.Bind(one, "gadgets", 2, servedGadgets(t, gadgetSchema("2", gadgetVersion("v1", "a", false), gadgetVersion("v2", "b", true)), renamed()))
	if got := s.Migratable(one); len(got) != 1 || got[0] != gadgets.GroupResource {
		t.Errorf("%v", got)
	}
	if names, err := s.StaleObjects(t.Context(), one, gadgets.GroupResource); err != nil || len(names) != 0 {
		t.Errorf("stale: %v, error %v", names, err)
	}
	if _, open := s.layer.Store(gadgets); open {
		t.Error("the store was opened to see whether there is something to do")
	}
}

func TestPathSegmentNames(t *testing.T) {
	s := newServer(t)
	names := gadgetSchema("1", gadgetVersion("v1", "a", true))
	names.Spec.NameValidation = apisv1alpha1.NameValidationPathSegment
	s.Bind(one, "gadgets", 1, servedGadgets(t, names, nil))
	s.Bind(two, "gadgets", 1, servedGadgets(t, gadgetSchema("1", gadgetVersion("v1", "a", true)), nil))
	elsewhere := strings.Replace(gadgetsV1, "/one/", "/two/", 1)
	for name, tc := range map[string]struct {
		reason string
		name   string
		code   int
		strict int
	}{
		"Colon":   {"names as roles have them", "system:Admin", http.StatusCreated, http.StatusUnprocessableEntity},
		"Plain":   {"ordinary ones", "plain", http.StatusCreated, http.StatusCreated},
		"Slash":   {"a name is one segment of a path", "a/b", http.StatusUnprocessableEntity, http.StatusUnprocessableEntity},
		"Percent": {"and not escaped there", "a%b", http.StatusUnprocessableEntity, http.StatusUnprocessableEntity},
		"Dot":     {"nor a place in the tree", ".", http.StatusUnprocessableEntity, http.StatusUnprocessableEntity},
		"Empty":   {"there has to be one", "", http.StatusUnprocessableEntity, http.StatusUnprocessableEntity},
	} {
		t.Run(name, func(t *testing.T) {
			body := fmt.Sprintf("{apiVersion: example.com/v1, kind: Gadget, metadata: {name: %q, namespace: default}}", tc.name)
			if r := s.do("POST", gadgetsV1, body); r.code != tc.code {
				t.Errorf("%s: %s", tc.reason, r)
			}
			if r := s.do("POST", elsewhere, body); r.code != tc.strict {
				t.Errorf("%s, under the rule of custom resources: %s", tc.reason, r)
			}
		})
	}
	s.must(http.StatusOK, "PATCH", gadgetsV1+"/system:Admin", `{"spec": {"a": "b"}}`, header{"Content-Type", "application/merge-patch+json"})
	s.must(http.StatusOK, "GET", gadgetsV1+"/system:Admin", "")
	s.must(http.StatusOK, "DELETE", gadgetsV1+"/system:Admin", "")
}
