package catalog

import (
	"mime"
	"net/http"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/utils/ptr"

	"github.com/forkless/kcp/internal/catalog/compiled"
	"github.com/forkless/kcp/internal/catalog/view"
	"github.com/forkless/kcp/internal/schema"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// originalVersionKey is the annotation that says which version an object is stored in,
// where objects of several versions and schemas are listed together.
const originalVersionKey = "kcp.io/original-api-version"

// serveMetadata serves a list or watch, across all clusters, of a resource that is
// defined by clusters themselves or bound from exports, whatever their identities, and
// says whether it did. The schemas have nothing to do with each other, so that nothing but
// the metadata can be had.
func (c *Catalog) serveMetadata(w http.ResponseWriter, req *http.Request, info *request.RequestInfo) bool {
	if info.Verb != "list" && info.Verb != "watch" {
		return false
	}
	accept, ok := metadataAccept(req.Header.Get("Accept"))
	if !ok {
		return false
	}
	resource := apischema.GroupResource{Group: info.APIGroup, Resource: info.Resource}
	if info.Verb == "watch" {
		// It ends when there is a new identity. Before that is known which there are.
		ctx, end := c.watches.begin(req.Context(), watchKey{cluster: logicalcluster.Wildcard, resource: resource, identity: anyIdentity})
		defer end()
		req = req.WithContext(ctx)
	}
	definition, identities, ok := c.index.anyOf(resource, info.APIVersion)
	if !ok {
		return false
	}
	served := schema.Served{Definition: metadataDefinition(definition, info.APIVersion), Identity: identities[0]}
	version, err := c.metadataVersion(served, info.APIVersion, identities)
	if err != nil {
		refuse(w, req, info, err)
		return true
	}
	// Whatever else the client would take must not be chosen: it is whole objects.
	req = req.Clone(req.Context())
	req.Header.Set("Accept", accept)
	c.serveVersion(w, req, info, served, version)
	return true
}

// metadataVersion compiles a definition that shows objects of any schema, of all of
// identities. That takes little and is done for each request.
func (c *Catalog) metadataVersion(served schema.Served, name string, identities []string) (*compiled.Version, error) {
	config, err := c.apis.configFor(served)
	if err != nil {
		return nil, err
	}
	if len(identities) > 1 {
		if config.Shared, err = c.union(served.Definition.GroupResource(), identities); err != nil {
			return nil, err
		}
	}
	config.AnySchema = true
	config.Annotate = func(u *unstructured.Unstructured) map[string]string {
		return map[string]string{originalVersionKey: u.GetAPIVersion()}
	}
	api, err := compiled.New(served.Definition, config)
	if err != nil {
		return nil, err
	}
	return api.Version(name)
}

// union returns the stores of the objects of a resource that have one of identities, as
// one.
func (c *Catalog) union(resource apischema.GroupResource, identities []string) (*view.Shared, error) {
	var joined view.Shared
	all := &union{lastWrite: c.config.Stores.LastWriteOfAll}
	for _, identity := range identities {
		of := storage.Resource{GroupResource: resource, Identity: identity}
		shared, err := c.stores.get(of)
		if err != nil {
			return nil, err
		}
		waitReady(shared)
		if len(all.parts) == 0 {
			joined = *shared
			all.Interface = shared.Interface
		}
		all.parts = append(all.parts, unionPart{Interface: shared.Interface, prefix: of.Prefix()})
	}
	joined.Interface = all
	return &joined, nil
}

// metadataDefinition returns a definition of the resource and kind of one of the
// definitions there are, without a schema.
func metadataDefinition(of *schema.Definition, version string) *schema.Definition {
	crd := &apiextensionsv1.CustomResourceDefinition{
		ObjectMeta: metav1.ObjectMeta{Name: of.CRD.Name},
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group:      of.CRD.Spec.Group,
			Names:      of.CRD.Spec.Names,
			Scope:      of.CRD.Spec.Scope,
			Conversion: &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.NoneConverter},
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{
				Name: version, Served: true, Storage: true,
				Schema: &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{
					Type: "object", XPreserveUnknownFields: ptr.To(true),
				}},
			}},
		},
	}
	crd.Status.AcceptedNames = of.CRD.Status.AcceptedNames
	return &schema.Definition{CRD: crd}
}

// metadataAccept returns the first media type of an Accept header if it asks for
// partial metadata. The first one is what the server would choose.
func metadataAccept(header string) (string, bool) {
	first, _, _ := strings.Cut(header, ",")
	_, parameters, err := mime.ParseMediaType(first)
	if err != nil || parameters["g"] != metav1.GroupName {
		return "", false
	}
	switch parameters["as"] {
	case "PartialObjectMetadata", "PartialObjectMetadataList":
		return first, true
	default:
		return "", false
	}
}
