package schema

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	kubeversion "k8s.io/apimachinery/pkg/version"

	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
)

// Definition is one API as the catalog sees it, shared by content between all
// clusters that have the same one. It is immutable.
type Definition struct {
	// Hash identifies the content: equal hashes mean equal definitions.
	Hash string

	// CRD carries the name, the spec, status.acceptedNames and, as
	// status.storedVersions, the storage version. It has no UID, resource version,
	// labels, annotations or conditions: those belong to one cluster.
	CRD *apiextensionsv1.CustomResourceDefinition

	// Rules say how objects are converted between versions. nil leaves that to the
	// conversion in the CRD.
	Rules *apisv1alpha1.APIConversionSpec

	// PathSegmentNames says that objects may have any name that can stand in a URL.
	PathSegmentNames bool
}

// coreGroup is what a CustomResourceDefinition calls the core group, whose real name
// is empty, which upstream's validation does not allow it to say: "services.core" is
// served below /api/v1.
const coreGroup = "core"

// content is what the hash of a definition covers. The field order is part of the
// hash, the hash is never stored.
type content struct {
	Spec          *apiextensionsv1.CustomResourceDefinitionSpec  `json:"spec"`
	AcceptedNames *apiextensionsv1.CustomResourceDefinitionNames `json:"acceptedNames"`

	// Bound schemas have these.
	Rules            string `json:"rules,omitempty"`
	PathSegmentNames bool   `json:"pathSegmentNames,omitempty"`
}

// New returns the definition that crd's spec and accepted names make, with what the
// annotations of a bound schema add. crd is only read and is not retained.
func New(crd *apiextensionsv1.CustomResourceDefinition) (*Definition, error) {
	hash, err := Hash(crd)
	if err != nil {
		return nil, err
	}
	stripped := &apiextensionsv1.CustomResourceDefinition{
		TypeMeta: metav1.TypeMeta{
			APIVersion: apiextensionsv1.SchemeGroupVersion.String(),
			Kind:       "CustomResourceDefinition",
		},
		ObjectMeta: metav1.ObjectMeta{Name: nameOf(crd)},
		Spec:       *crd.Spec.DeepCopy(),
	}
	stripped.Spec.Group = ResourceOf(crd).Group
	stripped.Status.AcceptedNames = *crd.Status.AcceptedNames.DeepCopy()
	// The versions a cluster has stored at one time or another differ between
	// clusters of the same definition, so only the one written now is kept.
	if version, ok := storageVersion(&crd.Spec); ok {
		stripped.Status.StoredVersions = []string{version}
	}
	rules, err := rulesOf(crd)
	if err != nil {
		return nil, err
	}
	return &Definition{Hash: hash, CRD: stripped, Rules: rules, PathSegmentNames: hasPathSegmentNames(crd)}, nil
}

// ResourceOf returns the resource that crd defines, as URLs and storage name it, without
// making a definition of it, which takes time with the size of its schemas.
func ResourceOf(crd *apiextensionsv1.CustomResourceDefinition) schema.GroupResource {
	group := crd.Spec.Group
	if group == coreGroup {
		group = ""
	}
	return schema.GroupResource{Group: group, Resource: crd.Spec.Names.Plural}
}

// nameOf returns the name of the definition that crd makes. Bound definitions are called
// as their schemas' UIDs, which say nothing of the content.
func nameOf(crd *apiextensionsv1.CustomResourceDefinition) string {
	if _, bound := crd.Annotations[apisv1alpha1.AnnotationBoundCRDKey]; !bound {
		return crd.Name
	}
	group := crd.Spec.Group
	if group == "" {
		group = coreGroup
	}
	return crd.Spec.Names.Plural + "." + group
}

// Hash returns the hash of the content that New would make a definition of. It is
// stable: it depends neither on map order nor on the white space of embedded JSON.
func Hash(crd *apiextensionsv1.CustomResourceDefinition) (string, error) {
	raw, err := json.Marshal(content{
		Spec: &crd.Spec, AcceptedNames: &crd.Status.AcceptedNames,
		Rules: crd.Annotations[apisv1alpha1.AnnotationConversionRulesKey], PathSegmentNames: hasPathSegmentNames(crd),
	})
	if err != nil {
		return "", fmt.Errorf("hashing definition %q: %w", crd.Name, err)
	}
	canonical, err := canonicalJSON(raw)
	if err != nil {
		return "", fmt.Errorf("hashing definition %q: %w", crd.Name, err)
	}
	sum := sha256.Sum256(append([]byte(nameOf(crd)+"\x00"), canonical...))
	return hex.EncodeToString(sum[:]), nil
}

// canonicalJSON sorts the keys of every object in raw. encoding/json sorts those of
// Go maps and writes structs in field order, but default and enum values are
// embedded JSON in whatever order the author wrote them.
func canonicalJSON(raw []byte) ([]byte, error) {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	// Numbers stay as they were written: 1 and 1.0 are different defaults.
	decoder.UseNumber()
	var value any
	if err := decoder.Decode(&value); err != nil {
		return nil, err
	}
	return json.Marshal(value)
}

// GroupResource returns the group and the plural name the definition is served as.
func (d *Definition) GroupResource() schema.GroupResource {
	return schema.GroupResource{Group: d.CRD.Spec.Group, Resource: d.CRD.Status.AcceptedNames.Plural}
}

// GroupKind returns the group and kind of the definition's objects.
func (d *Definition) GroupKind() schema.GroupKind {
	return schema.GroupKind{Group: d.CRD.Spec.Group, Kind: d.CRD.Status.AcceptedNames.Kind}
}

// Namespaced says whether the definition's objects live in namespaces.
func (d *Definition) Namespaced() bool {
	return d.CRD.Spec.Scope == apiextensionsv1.NamespaceScoped
}

// StorageVersion returns the version objects are stored in. ok is false for a
// definition without one, which validation never lets through.
func (d *Definition) StorageVersion() (name string, ok bool) {
	return storageVersion(&d.CRD.Spec)
}

// SelectableFields returns the paths of the fields, beside those of the metadata, by
// which objects can be selected in any version: "spec.color".
func (d *Definition) SelectableFields() []string {
	var paths []string
	for i := range d.CRD.Spec.Versions {
		for _, field := range d.CRD.Spec.Versions[i].SelectableFields {
			path := strings.TrimPrefix(field.JSONPath, ".")
			if !slices.Contains(paths, path) {
				paths = append(paths, path)
			}
		}
	}
	return paths
}

// Version returns the version called name, or nil. The result must not be changed.
func (d *Definition) Version(name string) *apiextensionsv1.CustomResourceDefinitionVersion {
	for i := range d.CRD.Spec.Versions {
		if d.CRD.Spec.Versions[i].Name == name {
			return &d.CRD.Spec.Versions[i]
		}
	}
	return nil
}

// Serves says whether the version called name exists and is served.
func (d *Definition) Serves(name string) bool {
	version := d.Version(name)
	return version != nil && version.Served
}

// ServedVersions returns the names of the versions that are served, the preferred one
// first, as discovery orders them.
func (d *Definition) ServedVersions() []string {
	var names []string
	for i := range d.CRD.Spec.Versions {
		if d.CRD.Spec.Versions[i].Served {
			names = append(names, d.CRD.Spec.Versions[i].Name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return kubeversion.CompareKubeAwareVersionStrings(b, a) })
	return names
}

func storageVersion(spec *apiextensionsv1.CustomResourceDefinitionSpec) (string, bool) {
	for _, version := range spec.Versions {
		if version.Storage {
			return version.Name, true
		}
	}
	return "", false
}
