package exportref_test

import (
	"context"
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/internal/exportref"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

var (
	errBroken = errors.New("broken")
	consumer  = logicalcluster.MustParseName("consumer")
	provider  = logicalcluster.MustParseName("provider")
)

// paths knows root:provider, and breaks at root:broken.
type paths struct{}

func (paths) Resolve(_ context.Context, path logicalcluster.Path) (logicalcluster.Name, error) {
	if name, ok := path.Name(); ok {
		return name, nil
	}
	switch path.String() {
	case "root:provider":
		return provider, nil
	case "root:broken":
		return logicalcluster.Name{}, errBroken
	default:
		return logicalcluster.Name{}, apierrors.NewNotFound(apisv1alpha2.Resource("workspaces"), path.String())
	}
}

// exports has one called widgets in both clusters.
type exports struct{}

func (exports) Export(_ context.Context, cluster logicalcluster.Name, name string) (*apisv1alpha2.APIExport, error) {
	switch {
	case name == "broken":
		return nil, errBroken
	case name == "widgets" && (cluster == consumer || cluster == provider):
		return &apisv1alpha2.APIExport{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{logicalcluster.AnnotationKey: cluster.String()}}}, nil
	default:
		return nil, apierrors.NewNotFound(apisv1alpha2.Resource("apiexports"), name)
	}
}

func TestExport(t *testing.T) {
	for name, tc := range map[string]struct {
		reason   string
		path     string
		export   string
		cluster  logicalcluster.Name
		notFound string
		err      error
	}{
		"Path":           {reason: "a path is walked", path: "root:provider", export: "widgets", cluster: provider},
		"Cluster":        {reason: "a cluster name is a path", path: "provider", export: "widgets", cluster: provider},
		"Own":            {reason: "no path is the own cluster", export: "widgets", cluster: consumer},
		"NoExport":       {reason: "the cluster is known without the export", path: "root:provider", export: "gone", cluster: provider, notFound: "APIExport root:provider|gone not found"},
		"NoWorkspace":    {reason: "and what is missing is not told", path: "root:gone", export: "widgets", notFound: "APIExport root:gone|widgets not found"},
		"NoCluster":      {reason: "a cluster name is not looked up", path: "gone", export: "widgets", cluster: logicalcluster.MustParseName("gone"), notFound: "APIExport gone|widgets not found"},
		"NoPath":         {reason: "what is no path leads nowhere", path: "Root:Provider", export: "widgets", notFound: "APIExport Root:Provider|widgets not found"},
		"Wildcard":       {reason: "no export is in all clusters", path: "*", export: "widgets", notFound: "APIExport *|widgets not found"},
		"BrokenPath":     {reason: "what cannot be found out is not missing", path: "root:broken", export: "widgets", err: errBroken},
		"BrokenExport":   {reason: "nor is what cannot be read", path: "root:provider", export: "broken", cluster: provider, err: errBroken},
		"OwnNotExisting": {reason: "where one would be is known", export: "gone", cluster: consumer, notFound: "APIExport |gone not found"},
	} {
		t.Run(name, func(t *testing.T) {
			cluster, export, err := exportref.NewResolver(paths{}, exports{}).Export(t.Context(), consumer, tc.path, tc.export)
			if cluster != tc.cluster {
				t.Errorf("%s: cluster %q, want %q", tc.reason, cluster, tc.cluster)
			}
			switch {
			case tc.notFound != "":
				if !exportref.IsNotFound(err) || err.Error() != tc.notFound {
					t.Errorf("%s: got %v, want %q", tc.reason, err, tc.notFound)
				}
			case !errors.Is(err, tc.err) || exportref.IsNotFound(err):
				t.Errorf("%s: got %v, want %v", tc.reason, err, tc.err)
			case err == nil && export.Annotations[logicalcluster.AnnotationKey] != tc.cluster.String():
				t.Errorf("%s: got the export of %v", tc.reason, export.Annotations)
			}
		})
	}
}

func TestReference(t *testing.T) {
	for name, tc := range map[string]struct{ path, want string }{
		"Path":    {"root:provider", "root:provider:widgets"},
		"NoPath":  {"", "widgets"},
		"Cluster": {"provider", "provider:widgets"},
	} {
		if got := exportref.Reference(tc.path, "widgets"); got != tc.want {
			t.Errorf("%s: got %q, want %q", name, got, tc.want)
		}
	}
}
