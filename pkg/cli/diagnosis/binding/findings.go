package binding

import (
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/diagnosis"
	"github.com/forkless/kcp/pkg/cli/diagnosis/finalizer"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Findings are what could be found out about a binding.
type Findings struct {
	// Consumer is the workspace of the binding, Provider that of its export.
	Consumer, Provider logicalcluster.Path
	// ExportName is the name of the export.
	ExportName string
	Commands   diagnosis.Commands
	// Now is when that was.
	Now time.Time
	// User is who is asking, as every workspace knows him; empty if that is not known.
	User string

	// Binding is nil if there is none yet: then it is about what would come of one, and
	// TryErr is what the server has against it.
	Binding *client.Binding
	TryErr  error
	// Lacks are the verbs of diagnosis.MakingBindings that the caller has not got in the
	// consumer's workspace, if there is no binding yet.
	Lacks []string
	// Others are the other bindings in the workspace.
	Others []client.Binding
	// Definitions are the CustomResourceDefinitions in the workspace, and Objects how many
	// there are of each that is in the way, by name.
	Definitions []apiextensionsv1.CustomResourceDefinition
	Objects     map[string]int

	// MayBind says whether the caller may bind the export.
	MayBind    authorizationv1.SubjectAccessReviewStatus
	MayBindErr error
	// Export is nil if it could not be read, which ExportErr says.
	Export    *client.Export
	ExportErr error
	// Exports are all in the provider's workspace.
	Exports []client.Export
	// MayPatchExport says whether the caller may change the export.
	MayPatchExport bool
	// MissingSchemas are those that the export names and that are not there.
	MissingSchemas []string
	// Slices are those of the export; SlicesErr says why they are not known.
	Slices    []apisv1alpha1.APIExportEndpointSlice
	SlicesErr error
	// Shards is how many shards there are, 0 if that is not known.
	Shards int

	// Denied are bound resources that the caller may not list.
	Denied map[schema.GroupResource]Denial
	// Held is what finalizers hold while the binding is deleted.
	Held   []finalizer.Held
	Unread []string
}

// Denial is what is known about a resource that the caller may not list.
type Denial struct {
	// Reason is what the server says.
	Reason string
	// By is whose policy it is.
	By Policy
}

// Policy says whose policy denies something.
type Policy string

// All that is known of a request is that some policy does not grant it. That of the provider
// is the one that is left where the policy of the workspace does.
const (
	SomePolicy     Policy = ""
	ConsumerPolicy Policy = "consumer"
	ProviderPolicy Policy = "provider"
)

// Watched is what tells that a diagnosis may come out otherwise than with f. All servers
// have the version v1alpha1.
func Watched(f *Findings) []client.Collection {
	v1alpha1 := apisv1alpha1.GroupVersion
	definitions := apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions")
	return []client.Collection{
		client.Objects(f.Consumer, v1alpha1.WithResource("apibindings"), ""),
		client.Objects(f.Consumer, definitions, "").Optional(),
		client.Objects(f.Provider, v1alpha1.WithResource("apiexports"), f.ExportName).Optional(),
		client.Objects(f.Provider, v1alpha1.WithResource("apiexportendpointslices"), "").Optional(),
	}
}
