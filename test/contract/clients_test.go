package contract

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/gentype"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

// scheme has our own kinds.
var scheme = func() *runtime.Scheme {
	s := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{tenancyv1alpha1.AddToScheme, corev1alpha1.AddToScheme} {
		if err := add(s); err != nil {
			panic(err)
		}
	}
	return s
}()

// caller is a user in a workspace.
type caller struct {
	t      *testing.T
	config *rest.Config
}

// as returns the user with that token in a workspace, or without a workspace if that is
// empty. Without a token the user is anonymous.
func (s *suite) as(t *testing.T, token, workspace string) caller {
	t.Helper()
	config := s.server.As(t, token, workspace)
	if workspace == "" {
		config.Host = s.server.URL()
	}
	return caller{t, config}
}

// like returns the caller as somebody else, whom only he may become.
func (c caller) like(user string, groups []string, extra map[string][]string) caller {
	config := rest.CopyConfig(c.config)
	config.Impersonate = rest.ImpersonationConfig{UserName: user, Groups: groups, Extra: extra}
	return caller{c.t, config}
}

func (c caller) kube() kubernetes.Interface {
	c.t.Helper()
	client, err := kubernetes.NewForConfig(c.config)
	if err != nil {
		c.t.Fatal(err)
	}
	return client
}

func (c caller) resource(resource schema.GroupVersionResource) dynamic.NamespaceableResourceInterface {
	c.t.Helper()
	client, err := dynamic.NewForConfig(c.config)
	if err != nil {
		c.t.Fatal(err)
	}
	return client.Resource(resource)
}

func (c caller) rest(version schema.GroupVersion) rest.Interface {
	c.t.Helper()
	config := rest.CopyConfig(c.config)
	config.APIPath = "/apis"
	config.GroupVersion = &version
	config.NegotiatedSerializer = serializer.NewCodecFactory(scheme).WithoutConversion()
	client, err := rest.RESTClientFor(config)
	if err != nil {
		c.t.Fatal(err)
	}
	return client
}

func (c caller) workspaces() *gentype.ClientWithList[*tenancyv1alpha1.Workspace, *tenancyv1alpha1.WorkspaceList] {
	c.t.Helper()
	return gentype.NewClientWithList("workspaces", c.rest(tenancyv1alpha1.GroupVersion), runtime.NewParameterCodec(scheme), "",
		func() *tenancyv1alpha1.Workspace { return &tenancyv1alpha1.Workspace{} },
		func() *tenancyv1alpha1.WorkspaceList { return &tenancyv1alpha1.WorkspaceList{} })
}

func (c caller) types() *gentype.ClientWithList[*tenancyv1alpha1.WorkspaceType, *tenancyv1alpha1.WorkspaceTypeList] {
	c.t.Helper()
	return gentype.NewClientWithList("workspacetypes", c.rest(tenancyv1alpha1.GroupVersion), runtime.NewParameterCodec(scheme), "",
		func() *tenancyv1alpha1.WorkspaceType { return &tenancyv1alpha1.WorkspaceType{} },
		func() *tenancyv1alpha1.WorkspaceTypeList { return &tenancyv1alpha1.WorkspaceTypeList{} })
}

func (c caller) clusters() *gentype.ClientWithList[*corev1alpha1.LogicalCluster, *corev1alpha1.LogicalClusterList] {
	c.t.Helper()
	return gentype.NewClientWithList("logicalclusters", c.rest(corev1alpha1.GroupVersion), runtime.NewParameterCodec(scheme), "",
		func() *corev1alpha1.LogicalCluster { return &corev1alpha1.LogicalCluster{} },
		func() *corev1alpha1.LogicalClusterList { return &corev1alpha1.LogicalClusterList{} })
}

// answer is what came back over plain HTTP.
type answer struct {
	code   int
	header http.Header
	body   string
}

// get asks for a path below the workspace. Headers are "Name: value".
func (c caller) get(path string, headers ...string) answer {
	c.t.Helper()
	return c.do(http.MethodGet, path, "", headers...)
}

// do sends a request with JSON in it.
func (c caller) do(method, path, body string, headers ...string) answer {
	c.t.Helper()
	client, err := rest.HTTPClientFor(c.config)
	if err != nil {
		c.t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(c.t.Context(), method, c.config.Host+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	request.Header.Set("Accept", "application/json")
	if body != "" {
		request.Header.Set("Content-Type", "application/json")
	}
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		request.Header.Set(name, value)
	}
	response, err := client.Do(request)
	if err != nil {
		c.t.Fatal(err)
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, string(data)}
}

// read decodes the body.
func read[T any](t *testing.T, a answer) T {
	t.Helper()
	var value T
	if a.code >= http.StatusMultipleChoices {
		t.Fatalf("got %d %s", a.code, a.body)
	}
	if err := json.Unmarshal([]byte(a.body), &value); err != nil {
		t.Fatalf("%v in %s", err, a.body)
	}
	return value
}
