package catalog

import (
	"sync"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	apistorage "k8s.io/apiserver/pkg/storage"

	"github.com/forkless/kcp/internal/catalog/compiled"
	"github.com/forkless/kcp/internal/storage"
)

// counting counts how often stores are opened. They are good for nothing else.
type counting struct {
	mu     sync.Mutex
	opened map[storage.Resource]int
	closed map[storage.Resource]int
}

type emptyStore struct{ apistorage.Interface }

func (emptyStore) ReadinessCheck() error { return nil }

func (c *counting) Open(resource storage.Resource, _ storage.Kind) (apistorage.Interface, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.opened[resource]++
	return emptyStore{}, nil
}

func (c *counting) LastWriteOfAll() uint64 { return 0 }

func (c *counting) CloseResource(resource storage.Resource) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed[resource]++
}

func (c *counting) timesClosed(resource storage.Resource) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.closed[resource]
}

func newTestCatalog(t *testing.T) (*Catalog, *counting) {
	t.Helper()
	opener := &counting{opened: map[storage.Resource]int{}, closed: map[storage.Resource]int{}}
	c, err := New(Config{
		Stores:     opener,
		Source:     everyCluster(nil),
		Admission:  admission.NewChainHandler(),
		Authorizer: authorizerfactory.NewAlwaysAllowAuthorizer(),
	})
	if err != nil {
		t.Fatal(err)
	}
	return c, opener
}

func establishedCRD(plural string, versions ...string) *apiextensionsv1.CustomResourceDefinition {
	crd := crd(plural, versions...)
	apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(crd)
	crd.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{
		{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue},
	}
	return crd
}

func TestCompiledOnceForAllClusters(t *testing.T) {
	const clusters = 50
	c, opener := newTestCatalog(t)
	for i := range clusters {
		if err := c.Set(cluster(i), establishedCRD("a", "v1")); err != nil {
			t.Fatal(err)
		}
	}
	versions := make([]*compiled.Version, clusters)
	var wait sync.WaitGroup
	for i := range clusters {
		wait.Go(func() {
			served, _ := c.Lookup(cluster(i), crdResource("a"))
			version, err := c.version(served, "v1")
			if err != nil {
				t.Error(err)
			}
			versions[i] = version
		})
	}
	wait.Wait()
	for i := range versions {
		if versions[i] != versions[0] {
			t.Fatal("equal definitions are compiled more than once")
		}
	}
	for resource, times := range opener.opened {
		if times != 1 {
			t.Errorf("%v was opened %d times", resource, times)
		}
	}
	for i := range clusters {
		c.Delete(cluster(i), "a.example.com")
	}
	if len(c.apis.all) != 0 {
		t.Error("what nobody has any more is still compiled")
	}
}

func TestDefinitionsOfOneNameShareAStore(t *testing.T) {
	c, opener := newTestCatalog(t)
	for i, version := range []string{"v1", "v2"} {
		if err := c.Set(cluster(i), establishedCRD("a", version)); err != nil {
			t.Fatal(err)
		}
		served, _ := c.Lookup(cluster(i), crdResource("a"))
		if _, err := c.version(served, version); err != nil {
			t.Fatal(err)
		}
	}
	want := storage.Resource{GroupResource: crdResource("a"), Identity: storage.CustomResources}
	if len(opener.opened) != 1 || opener.opened[want] != 1 {
		t.Errorf("opened %v, want %v once for both definitions", opener.opened, want)
	}
	if len(c.apis.all) != 2 {
		t.Errorf("%d compiled definitions, want 2: they are different", len(c.apis.all))
	}
}
