package compiled

import (
	"fmt"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/conversion"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/endpoints/handlers"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/forkless/kcp/internal/catalog/structural"
	"github.com/forkless/kcp/internal/catalog/view"
	"github.com/forkless/kcp/internal/schema"
)

// Config is what an API needs beside its definition.
type Config struct {
	// Shared is the store of the resource, for all clusters, and Prefix what its keys
	// begin with. Both are required.
	Shared *view.Shared
	Prefix string
	// Converters make the converters between versions. Required.
	Converters *conversion.CRConverterFactory
	// Converter, if set, converts between versions, whatever the definition says.
	Converter Converter
	// Authorizer is asked whether an update may create. Required.
	Authorizer authorizer.Authorizer
	// MaxRequestBodyBytes bounds the bodies of writes; zero means no bound.
	MaxRequestBodyBytes int64
	// DeleteWorkers is how many objects a deletecollection deletes at a time.
	DeleteWorkers int
	// AnySchema makes objects be shown as they are stored, whatever their version and
	// content; the definition's schema is only good for its shape of requests.
	AnySchema bool
	// AsStored is AnySchema where objects also keep the version they are stored in.
	// What is shown then may not be of the definition's version, which matters to
	// clients but not to those who delete.
	AsStored bool
	// Show, if set, is handed to the view of each version.
	Show func(*unstructured.Unstructured) *unstructured.Unstructured
	// Annotate, if set, is handed to the view of each version.
	Annotate func(*unstructured.Unstructured) map[string]string
}

// API is a compiled definition.
type API struct {
	definition *schema.Definition
	config     Config

	schemas        *structural.Schemas
	converter      runtime.ObjectConvertor
	unsafe         runtime.ObjectConvertor
	typeConverter  managedfields.TypeConverter
	equivalents    runtime.EquivalentResourceMapper
	replicasPaths  managedfields.ResourcePathMappings
	storageVersion string

	mu       sync.Mutex
	versions map[string]*Version
}

// Version is a compiled version. All its fields may be used concurrently and must not
// be changed.
type Version struct {
	// Resource is the registry of the resource, Status and Scale are those of its
	// subresources, nil if the version does not have them.
	Resource      *customresource.REST
	Status, Scale rest.Patcher
	// Scope, StatusScope and ScaleScope are the request scopes that go with them.
	Scope, StatusScope, ScaleScope *handlers.RequestScope
	// Deprecated says whether the version is deprecated, Warnings what to tell its
	// users.
	Deprecated bool
	Warnings   []string
}

// New compiles what all versions of definition share.
func New(definition *schema.Definition, config Config) (*API, error) {
	if err := checkNames(&definition.CRD.Status.AcceptedNames); err != nil {
		return nil, fmt.Errorf("definition %s: %w", definition.CRD.Name, err)
	}
	storageVersion, ok := definition.StorageVersion()
	if !ok {
		return nil, fmt.Errorf("definition %s has no storage version", definition.CRD.Name)
	}
	schemas, err := structural.Compile(definition)
	if err != nil {
		return nil, err
	}
	converter, unsafe, err := config.Converters.NewConverter(definition.CRD)
	if err != nil {
		return nil, fmt.Errorf("definition %s: making converter: %w", definition.CRD.Name, err)
	}
	if config.Converter != nil {
		converter, unsafe = newConvertors(unsafe, config.Converter, definition, schemas)
	}
	return &API{
		definition:     definition,
		config:         config,
		schemas:        schemas,
		converter:      converter,
		unsafe:         unsafe,
		typeConverter:  newLazyTypeConverter(definition.CRD),
		equivalents:    equivalentResources(definition),
		replicasPaths:  replicasPaths(definition.CRD),
		storageVersion: storageVersion,
		versions:       map[string]*Version{},
	}, nil
}

// Definition returns what the API was made from.
func (a *API) Definition() *schema.Definition { return a.definition }

// StorageVersion returns the name of the version objects are stored in.
func (a *API) StorageVersion() string { return a.storageVersion }

// Version returns the version called name, compiling it if need be. It is an error
// to ask for one that is neither served nor stored.
func (a *API) Version(name string) (*Version, error) {
	// Whoever asks first compiles, the others need the result as well.
	a.mu.Lock()
	defer a.mu.Unlock()
	if version, ok := a.versions[name]; ok {
		return version, nil
	}
	spec := a.definition.Version(name)
	if spec == nil || (!spec.Served && !spec.Storage) {
		return nil, fmt.Errorf("definition %s does not serve version %q", a.definition.CRD.Name, name)
	}
	version, err := a.compile(spec)
	if err != nil {
		return nil, fmt.Errorf("definition %s, version %s: %w", a.definition.CRD.Name, name, err)
	}
	a.versions[name] = version
	return version, nil
}

func (a *API) compile(spec *apiextensionsv1.CustomResourceDefinitionVersion) (*Version, error) {
	version := &Version{
		Deprecated: spec.Deprecated,
		Warnings:   warnings(&a.definition.CRD.Spec, spec),
	}
	if err := a.addRegistries(version, spec); err != nil {
		return nil, err
	}
	if err := a.addScopes(version, spec); err != nil {
		return nil, err
	}
	return version, nil
}

// form is how the version called name sees stored objects.
func (a *API) form(name string) *view.Form {
	form := &view.Form{
		Kind:           a.definition.GroupKind().WithVersion(name),
		StorageVersion: a.storageVersion,
		Schemas:        a.schemas,
		Annotate:       a.config.Annotate,
		Show:           a.config.Show,
	}
	if a.config.AnySchema || a.config.AsStored {
		form.Schemas, form.AsStored = nil, a.config.AsStored
		return form
	}
	switch {
	case a.config.Converter != nil:
		form.Convert = a.config.Converter.Convert
		if a.definition.Rules != nil {
			form.Readable = a.definition.ServedVersions()
		}
	case a.definition.CRD.Spec.Conversion.Strategy != apiextensionsv1.NoneConverter:
		form.Convert, form.Asks = a.ask, true
	}
	return form
}

func checkNames(names *apiextensionsv1.CustomResourceDefinitionNames) error {
	for _, name := range []struct{ field, value string }{
		{"plural", names.Plural},
		{"singular", names.Singular},
		{"kind", names.Kind},
		{"listKind", names.ListKind},
	} {
		if name.value == "" {
			return fmt.Errorf("status.acceptedNames.%s is empty", name.field)
		}
	}
	return nil
}
