package identity

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/internal/servertest"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/apis/conditions"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	topologyv1alpha1 "github.com/forkless/kcp/pkg/apis/topology/v1alpha1"
)

var (
	endpointSlices = apisv1alpha1.GroupVersion.WithResource("apiexportendpointslices")
	bindings       = apisv1alpha2.GroupVersion.WithResource("apibindings")
	partitions     = topologyv1alpha1.GroupVersion.WithResource("partitions")
	shards         = corev1alpha1.GroupVersion.WithResource("shards")
)

func newBinding(name, path, export string) *apisv1alpha2.APIBinding {
	return &apisv1alpha2.APIBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: apisv1alpha2.APIBindingSpec{Reference: apisv1alpha2.BindingReference{
			Export: &apisv1alpha2.ExportBindingReference{Path: path, Name: export},
		}},
	}
}

func newSlice(name, path, export, partition string) *apisv1alpha1.APIExportEndpointSlice {
	return &apisv1alpha1.APIExportEndpointSlice{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: apisv1alpha1.APIExportEndpointSliceSpec{
			APIExport: apisv1alpha1.ExportBindingReference{Path: path, Name: export},
			Partition: partition,
		},
	}
}

func newPartition(name string, labels map[string]string) *topologyv1alpha1.Partition {
	return &topologyv1alpha1.Partition{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec:       topologyv1alpha1.PartitionSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}},
	}
}

// saysNothing, saysWhere and complains are what a slice may come to.
func saysNothing(s apisv1alpha1.APIExportEndpointSlice) bool {
	return len(s.Status.APIExportEndpoints) == 0 && conditions.IsTrue(&s, apisv1alpha1.APIExportValid) &&
		conditions.IsTrue(&s, apisv1alpha1.PartitionValid)
}

func saysWhere(url string) func(apisv1alpha1.APIExportEndpointSlice) bool {
	return func(s apisv1alpha1.APIExportEndpointSlice) bool {
		return len(s.Status.APIExportEndpoints) == 1 && s.Status.APIExportEndpoints[0].URL == url
	}
}

func complains(of conditions.Type, reason string) func(apisv1alpha1.APIExportEndpointSlice) bool {
	return func(s apisv1alpha1.APIExportEndpointSlice) bool {
		return len(s.Status.APIExportEndpoints) == 0 && conditions.Reason(&s, of) == reason
	}
}

// newProvider makes a workspace with an export and returns it, the name of its logical
// cluster, and where the objects of the export will be found.
func newProvider(t *testing.T, server *servertest.Server, export string) (w workspace, cluster, url string) {
	t.Helper()
	w = newWorkspace(t, server)
	created := create(w, exports, "APIExport", newExport(export))
	cluster = created.Annotations["kcp.io/cluster"]
	return w, cluster, fmt.Sprintf("%s/services/apiexport/%s/%s", server.URL(), cluster, export)
}

func TestEndpointSliceOfAnExport(t *testing.T) {
	server := servertest.Start(t)
	provider, cluster, url := newProvider(t, server, "widgets")

	slice := eventually(provider, endpointSlices, "", "widgets", "a slice without addresses", saysNothing)
	export, _ := get[apisv1alpha2.APIExport](provider, exports, "", "widgets")
	same(t, "it is the export's", []metav1.OwnerReference{{
		APIVersion: "apis.kcp.io/v1alpha1", Kind: "APIExport", Name: "widgets", UID: export.UID,
	}}, slice.OwnerReferences)
	same(t, "and refers to it", apisv1alpha1.ExportBindingReference{Path: provider.path, Name: "widgets"}, slice.Spec.APIExport)

	provider.delete(endpointSlices, "", "widgets")
	again := eventually(provider, endpointSlices, "", "widgets", "the slice to come back", saysNothing)
	if again.UID == slice.UID {
		t.Error("the slice was not deleted")
	}

	// By path, by the name of the cluster, and another one of the same name elsewhere.
	one, two, bystander := newWorkspace(t, server), newWorkspace(t, server), newWorkspace(t, server)
	create(bystander, bindings, "APIBinding", newBinding("widgets", "", "widgets"))
	create(one, bindings, "APIBinding", newBinding("widgets", provider.path, "widgets"))
	eventually(provider, endpointSlices, "", "widgets", "an address", saysWhere(url))
	create(two, bindings, "APIBinding", newBinding("widgets", cluster, "widgets"))
	one.delete(bindings, "", "widgets")
	servertest.Eventually(t, "the binding to go", func() (bool, any) {
		binding, ok := get[apisv1alpha2.APIBinding](one, bindings, "", "widgets")
		return !ok, binding
	})
	slice, _ = get[apisv1alpha1.APIExportEndpointSlice](provider, endpointSlices, "", "widgets")
	same(t, "while somebody refers to the export there is an address", true, saysWhere(url)(slice))
	two.delete(bindings, "", "widgets")
	eventually(provider, endpointSlices, "", "widgets", "the address to go with the last binding", saysNothing)

	provider.delete(exports, "", "widgets")
	servertest.Eventually(t, "the slice to go with the export", func() (bool, any) {
		slice, ok := get[apisv1alpha1.APIExportEndpointSlice](provider, endpointSlices, "", "widgets")
		return !ok, slice
	})
}

func TestNoEndpointSliceForThoseWhoSkipIt(t *testing.T) {
	server := servertest.Start(t)
	w := newWorkspace(t, server)
	const skip = "apiexports.apis.kcp.io/skip-endpointslice"
	create(w, exports, "APIExport", newExport("annotated", func(e *apisv1alpha2.APIExport) { e.Annotations = map[string]string{skip: ""} }))
	create(w, exports, "APIExport", newExport("labeled", func(e *apisv1alpha2.APIExport) { e.Labels = map[string]string{skip: "true"} }))
	create(w, exports, "APIExport", newExport("plain"))
	for _, name := range []string{"annotated", "labeled", "plain"} {
		eventually(w, exports, "", name, "an identity", isValid)
	}
	eventually(w, endpointSlices, "", "plain", "a slice", saysNothing)
	for _, name := range []string{"annotated", "labeled"} {
		if _, ok := get[apisv1alpha1.APIExportEndpointSlice](w, endpointSlices, "", name); ok {
			t.Errorf("%s: there is a slice that nobody wants", name)
		}
	}
	w.patch(exports, "", "annotated", `{"metadata":{"annotations":null}}`)
	eventually(w, endpointSlices, "", "annotated", "a slice, now that it is wanted", saysNothing)
}

func TestEndpointSlicesOfUsers(t *testing.T) {
	server := servertest.Start(t)
	w := newWorkspace(t, server)
	root := as(t, server.In(t, "base", "root"), "root")

	t.Run("Elsewhere", func(t *testing.T) {
		provider, cluster, url := newProvider(t, server, "gadgets")
		create(w, endpointSlices, "APIExportEndpointSlice", newSlice("by-path", provider.path, "gadgets", ""))
		create(w, endpointSlices, "APIExportEndpointSlice", newSlice("gadgets", cluster, "gadgets", ""))
		eventually(w, endpointSlices, "", "by-path", "no address", saysNothing)
		create(w, bindings, "APIBinding", newBinding("gadgets", provider.path, "gadgets"))
		for _, name := range []string{"by-path", "gadgets"} {
			eventually(w, endpointSlices, "", name, "an address", saysWhere(url))
		}
		provider.delete(exports, "", "gadgets")
		for _, name := range []string{"by-path", "gadgets"} {
			slice := eventually(w, endpointSlices, "", name, "a complaint", complains(apisv1alpha1.APIExportValid, apisv1alpha1.ReasonAPIExportNotFound))
			want := fmt.Sprintf("APIExport %s|gadgets not found", slice.Spec.APIExport.Path)
			same(t, "it says which", want, condition(&slice, apisv1alpha1.APIExportValid).Message)
		}
		create(provider, exports, "APIExport", newExport("gadgets"))
		for _, name := range []string{"by-path", "gadgets"} {
			eventually(w, endpointSlices, "", name, "the address to come back", saysWhere(url))
		}
	})

	t.Run("Late", func(t *testing.T) {
		create(w, endpointSlices, "APIExportEndpointSlice", newSlice("own", "", "own-widgets", ""))
		provider, _, _ := newProvider(t, server, "late")
		create(w, endpointSlices, "APIExportEndpointSlice", newSlice("late", provider.path, "late", ""))
		eventually(w, endpointSlices, "", "late", "an export", saysNothing)
		provider.delete(exports, "", "late")
		for _, name := range []string{"late", "own"} {
			eventually(w, endpointSlices, "", name, "a complaint", complains(apisv1alpha1.APIExportValid, apisv1alpha1.ReasonAPIExportNotFound))
		}
		create(provider, exports, "APIExport", newExport("late"))
		create(w, exports, "APIExport", newExport("own-widgets"))
		for _, name := range []string{"late", "own"} {
			eventually(w, endpointSlices, "", name, "the export to be found", saysNothing)
		}
	})

	t.Run("Partitions", func(t *testing.T) {
		provider, _, url := newProvider(t, server, "things")
		create(w, bindings, "APIBinding", newBinding("things", provider.path, "things"))
		create(w, partitions, "Partition", newPartition("here", map[string]string{"name": "root"}))
		create(w, partitions, "Partition", newPartition("north", map[string]string{"region": "north"}))
		for _, partition := range []string{"here", "north", "unknown"} {
			create(w, endpointSlices, "APIExportEndpointSlice", newSlice("in-"+partition, provider.path, "things", partition))
		}
		here := eventually(w, endpointSlices, "", "in-here", "an address", saysWhere(url))
		same(t, "the slice says what the partition is", "name=root", here.Status.ShardSelector)
		north := eventually(w, endpointSlices, "", "in-north", "no address", saysNothing)
		same(t, "also where there is nothing", "region=north", north.Status.ShardSelector)
		unknown := eventually(w, endpointSlices, "", "in-unknown", "a complaint",
			complains(apisv1alpha1.PartitionValid, apisv1alpha1.ReasonPartitionInvalidReference))
		same(t, "it says which", "Partition unknown not found", condition(&unknown, apisv1alpha1.PartitionValid).Message)

		create(w, partitions, "Partition", newPartition("unknown", nil))
		eventually(w, endpointSlices, "", "in-unknown", "an address, once there is a partition with all shards", saysWhere(url))
		root.patch(shards, "", "root", `{"metadata":{"labels":{"region":"north"}}}`)
		eventually(w, endpointSlices, "", "in-north", "an address, once the shard is in the partition", saysWhere(url))
		w.patch(partitions, "", "north", `{"spec":{"selector":{"matchLabels":{"region":"south"}}}}`)
		eventually(w, endpointSlices, "", "in-north", "no address, once it is in it no more", saysNothing)
		w.delete(partitions, "", "here")
		eventually(w, endpointSlices, "", "in-here", "a complaint",
			complains(apisv1alpha1.PartitionValid, apisv1alpha1.ReasonPartitionInvalidReference))
		w.patch(endpointSlices, "", "in-here", `{"spec":{"partition":null}}`)
		eventually(w, endpointSlices, "", "in-here", "an address without a partition", saysWhere(url))
	})

	t.Run("ProviderEnds", func(t *testing.T) {
		created := server.Workspace(t, "root", "ending")
		provider := as(t, server.In(t, "base", created.Spec.Cluster), "root:ending")
		create(provider, exports, "APIExport", newExport("parts"))
		create(w, bindings, "APIBinding", newBinding("parts", "root:ending", "parts"))
		create(w, endpointSlices, "APIExportEndpointSlice", newSlice("parts", "root:ending", "parts", ""))
		url := fmt.Sprintf("%s/services/apiexport/%s/parts", server.URL(), created.Spec.Cluster)
		eventually(w, endpointSlices, "", "parts", "an address", saysWhere(url))
		root.delete(workspaces, "", "ending")
		eventually(w, endpointSlices, "", "parts", "a complaint", complains(apisv1alpha1.APIExportValid, apisv1alpha1.ReasonAPIExportNotFound))
	})
}

func TestAddressesAreThereAfterARestart(t *testing.T) {
	root := t.TempDir()
	server := servertest.StartIn(t, root)
	provider, cluster, url := newProvider(t, server, "widgets")
	create(provider, bindings, "APIBinding", newBinding("widgets", "", "widgets"))
	create(provider, endpointSlices, "APIExportEndpointSlice", newSlice("other", "", "widgets", ""))
	before := eventually(provider, endpointSlices, "", "other", "an address", saysWhere(url))
	server.Stop()

	server = servertest.StartIn(t, root, "--shard-virtual-workspace-url=https://elsewhere.example.com/")
	provider = as(t, server.In(t, "base", cluster), provider.path)
	// The address has changed, so it shows when the slice has been looked at. Had it been
	// cleared meanwhile, there would be one version more.
	elsewhere := fmt.Sprintf("https://elsewhere.example.com/services/apiexport/%s/widgets", cluster)
	after := eventually(provider, endpointSlices, "", "other", "the new address", saysWhere(elsewhere))
	same(t, "there is a new status", false, before.ResourceVersion == after.ResourceVersion)
	provider.delete(bindings, "", "widgets")
	eventually(provider, endpointSlices, "", "other", "the address to go with the binding", saysNothing)
}
