package exportinit

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/cli/claim"
	"github.com/forkless/kcp/pkg/cli/kcpplugin/definition"
)

// coreExport is the name of the export of the group that has no name.
const coreExport = "core"

// request is what an export is to be made of.
type request struct {
	definitions []*apiextensionsv1.CustomResourceDefinition
	// name of the one export, "" for one export for each group, named for it.
	name   string
	claims []apisv1alpha2.PermissionClaim
	// preserve keeps resources of an export that no definition is of.
	preserve bool
	today    time.Time
}

// present is what there is already.
type present struct {
	schemas []apisv1alpha1.APIResourceSchema
	exports map[string]*apisv1alpha2.APIExport
}

// plan is what there is to be.
type plan struct {
	schemas []plannedSchema
	exports []plannedExport
}

type plannedSchema struct {
	*apisv1alpha1.APIResourceSchema
	// isNew says that there is no such schema yet.
	isNew bool
}

type plannedExport struct {
	*apisv1alpha2.APIExport
	// before is the export as it is, nil if there is none.
	before *apisv1alpha2.APIExport
	// dropped are the resources that it has and will not have any more.
	dropped []apisv1alpha2.ResourceSchema
}

// changed says whether there is anything to write.
func (e plannedExport) changed() bool {
	return e.before == nil || !equality.Semantic.DeepEqual(normalized(e.before), normalized(e.APIExport))
}

// normalized returns the spec without what makes no difference: order, and what is
// left out and has a default.
func normalized(export *apisv1alpha2.APIExport) apisv1alpha2.APIExportSpec {
	spec := *export.Spec.DeepCopy()
	for i := range spec.Resources {
		spec.Resources[i] = withStorage(spec.Resources[i])
	}
	slices.SortFunc(spec.Resources, byResource)
	return spec
}

// exportNames returns the exports that the request is about.
func (r request) exportNames() []string {
	var names []string
	for _, crd := range r.definitions {
		names = append(names, r.exportOf(crd.Spec.Group))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

func (r request) exportOf(group string) string { return cmp.Or(r.name, group, coreExport) }

// decide returns what has to be there for the request. It performs no I/O.
func decide(r request, have present) (plan, error) {
	var p plan
	resources := map[string][]apisv1alpha2.ResourceSchema{}
	for _, crd := range r.definitions {
		schema, err := r.schema(crd, have)
		if err != nil {
			return plan{}, err
		}
		p.schemas = append(p.schemas, schema)
		name := r.exportOf(schema.Spec.Group)
		resources[name] = append(resources[name], withStorage(apisv1alpha2.ResourceSchema{
			Name: schema.Spec.Names.Plural, Group: schema.Spec.Group, Schema: schema.Name,
		}))
	}
	for _, name := range r.exportNames() {
		p.exports = append(p.exports, r.export(name, have.exports[name], resources[name]))
	}
	return p, nil
}

// schema returns the schema of a definition: one that is there and the same, the one in
// use before all others, or a new one.
func (r request) schema(crd *apiextensionsv1.CustomResourceDefinition, have present) (plannedSchema, error) {
	spec, err := definition.Spec(crd)
	if err != nil {
		return plannedSchema{}, err
	}
	inUse := ""
	if export := have.exports[r.exportOf(spec.Group)]; export != nil {
		for _, resource := range export.Spec.Resources {
			if resource.Name == spec.Names.Plural && resource.Group == spec.Group {
				inUse = resource.Schema
			}
		}
	}
	var found *apisv1alpha1.APIResourceSchema
	for i := range have.schemas {
		if s := &have.schemas[i]; definition.Same(s.Spec, spec) && (found == nil || s.Name == inUse) {
			found = s
		}
	}
	if found != nil {
		return plannedSchema{APIResourceSchema: found}, nil
	}
	prefix, err := definition.Prefix(spec, r.today)
	if err != nil {
		return plannedSchema{}, err
	}
	made, err := definition.New(spec, prefix)
	if err != nil {
		return plannedSchema{}, fmt.Errorf("CustomResourceDefinition %s: %w", crd.Name, err)
	}
	// Without it nobody may define resources in the groups of Kubernetes.
	if approval, ok := crd.Annotations[apiextensionsv1.KubeAPIApprovedAnnotation]; ok {
		made.Annotations = map[string]string{apiextensionsv1.KubeAPIApprovedAnnotation: approval}
	}
	return plannedSchema{APIResourceSchema: made, isNew: true}, nil
}

// export returns the export called name with resources, and whatever else it has had.
func (r request) export(name string, before *apisv1alpha2.APIExport, resources []apisv1alpha2.ResourceSchema) plannedExport {
	after := &apisv1alpha2.APIExport{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if before != nil {
		after = before.DeepCopy()
	}
	after.TypeMeta = metav1.TypeMeta{APIVersion: apisv1alpha2.GroupVersion.String(), Kind: "APIExport"}
	planned := plannedExport{APIExport: after, before: before}
	for _, old := range after.Spec.Resources {
		same := func(r apisv1alpha2.ResourceSchema) bool { return r.Name == old.Name && r.Group == old.Group }
		switch {
		case slices.ContainsFunc(resources, same):
		case r.preserve, old.Storage.Virtual != nil:
			// No definition is ever of a resource that is stored elsewhere.
			resources = append(resources, old)
		default:
			planned.dropped = append(planned.dropped, old)
		}
	}
	slices.SortFunc(resources, byResource)
	after.Spec.Resources = resources
	for _, c := range r.claims {
		after.Spec.PermissionClaims = withClaim(after.Spec.PermissionClaims, c)
	}
	return planned
}

// withClaim adds a claim or, as there is only one for a resource, replaces it.
func withClaim(claims []apisv1alpha2.PermissionClaim, c apisv1alpha2.PermissionClaim) []apisv1alpha2.PermissionClaim {
	if c.Verbs == nil {
		c.Verbs = claim.AnyVerb()
	}
	i := slices.IndexFunc(claims, func(other apisv1alpha2.PermissionClaim) bool { return other.GroupResource == c.GroupResource })
	if i < 0 {
		return append(claims, c)
	}
	c.IdentityHash = cmp.Or(c.IdentityHash, claims[i].IdentityHash)
	c.DefaultSelector = claims[i].DefaultSelector
	claims[i] = c
	return claims
}

func withStorage(r apisv1alpha2.ResourceSchema) apisv1alpha2.ResourceSchema {
	if r.Storage.CRD == nil && r.Storage.Virtual == nil {
		r.Storage.CRD = &apisv1alpha2.ResourceSchemaStorageCRD{}
	}
	return r
}

func byResource(a, b apisv1alpha2.ResourceSchema) int {
	return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Name, b.Name))
}
