package objectlimit_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/component-base/metrics"

	"github.com/forkless/kcp/internal/admission/admissiontest"
	"github.com/forkless/kcp/internal/admission/objectlimit"
	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/internal/storage/cached"
	"github.com/forkless/kcp/internal/tenancy/tenancytest"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

var org = tenancytest.ClusterAt("root:org")

func TestOf(t *testing.T) {
	for name, c := range map[string]struct {
		reason     string
		cluster    logicalcluster.Name
		annotation string
		flag       int64
		phase      corev1alpha1.Phase
		want       int64
	}{
		"None":        {reason: "nobody has said anything", cluster: org},
		"Flag":        {reason: "the limit of the server", cluster: org, flag: 5, want: 5},
		"Annotation":  {reason: "its own wins", cluster: org, flag: 5, annotation: "7", want: 7},
		"Alone":       {reason: "also where the server has none", cluster: org, annotation: "7", want: 7},
		"Zero":        {reason: "no limit", cluster: org, flag: 5, annotation: "0"},
		"Negative":    {reason: "no limit either", cluster: org, flag: 5, annotation: "-3"},
		"Nonsense":    {reason: "as if it were not there", cluster: org, flag: 5, annotation: "many", want: 5},
		"Hexadecimal": {reason: "numbers have the base ten", cluster: org, flag: 5, annotation: "0x10", want: 5},
		"Huge":        {reason: "what is too large for a number is none", cluster: org, flag: 5, annotation: "99999999999999999999", want: 5},
		"Root":        {reason: "the flag is not for root", cluster: logicalcluster.Root, flag: 5},
		"RootOwn":     {reason: "its own is", cluster: logicalcluster.Root, flag: 5, annotation: "7", want: 7},
		"System":      {reason: "clusters of the system have none", cluster: logicalcluster.SystemAdmin, flag: 5},
		"Unready":     {reason: "what is being made must get done", cluster: org, flag: 5, phase: corev1alpha1.PhaseInitializing},
		"Missing":     {reason: "nothing is created where nothing is", cluster: logicalcluster.MustParseName("missing"), flag: 5},
	} {
		t.Run(name, func(t *testing.T) {
			tree := tenancytest.New(t)
			tree.AddCluster("root:org", "root:organization")
			if lc, err := tree.Clusters().Get(t.Context(), c.cluster); err == nil {
				if c.annotation != "" {
					lc.Annotations[corev1alpha1.MaxTotalObjectsAnnotationKey] = c.annotation
				}
				if c.phase != "" {
					lc.Status.Phase = c.phase
				}
			}
			limit, limited, err := objectlimit.Limits{Clusters: tree.Clusters(), Default: c.flag}.Of(t.Context(), c.cluster)
			if err != nil || limited != (c.want > 0) || limited && limit != c.want {
				t.Errorf("%s: got %d, limited %t, error %v, want %d", c.reason, limit, limited, err, c.want)
			}
		})
	}
}

func TestForCreate(t *testing.T) {
	tree := tenancytest.New(t)
	tree.AddCluster("root:org", "root:organization")
	limits := objectlimit.Limits{Clusters: tree.Clusters(), Default: 5}
	ofRequest := request.WithRequestInfo(t.Context(), &request.RequestInfo{})
	secrets := schema.GroupResource{Resource: "secrets"}
	for name, c := range map[string]struct {
		reason   string
		ctx      context.Context
		resource schema.GroupResource
		name     string
		want     bool
	}{
		"Request":  {"clients are limited", ofRequest, secrets, "a", true},
		"Server":   {"the server is not", t.Context(), secrets, "a", false},
		"Cluster":  {"nor the object that a cluster stands for", ofRequest, corev1alpha1.Resource("logicalclusters"), "cluster", false},
		"Admin":    {"nor the binding of its creator", ofRequest, schema.GroupResource{Group: "rbac.authorization.k8s.io", Resource: "clusterrolebindings"}, "workspace-admin", false},
		"Bindings": {"other bindings are", ofRequest, schema.GroupResource{Group: "rbac.authorization.k8s.io", Resource: "clusterrolebindings"}, "a", true},
		"Events":   {"events are not", ofRequest, schema.GroupResource{Resource: "events"}, "a", false},
	} {
		t.Run(name, func(t *testing.T) {
			if _, limited, err := limits.ForCreate(c.ctx, org, c.resource, c.name); err != nil || limited != c.want {
				t.Errorf("%s: got limited %t, error %v", c.reason, limited, err)
			}
		})
	}
}

// counter is what clusters hold; nobody counts if it is nil.
type counter map[logicalcluster.Name]int64

func (c counter) ObjectCount(_ context.Context, cluster logicalcluster.Name) (int64, bool, error) {
	if count := c[cluster]; count >= 0 {
		return count, c != nil, nil
	}
	return 0, false, errors.New("broken")
}

func (c counter) EachObjectCount(visit func(logicalcluster.Name, int64)) {
	for cluster, count := range c {
		visit(cluster, count)
	}
}

func TestValidate(t *testing.T) {
	tree := tenancytest.New(t)
	tree.AddCluster("root:org", "root:organization")
	limits := objectlimit.Limits{Clusters: tree.Clusters(), Default: 5}
	secrets := schema.GroupVersionResource{Version: "v1", Resource: "secrets"}
	reviews := schema.GroupVersionResource{Group: "authorization.k8s.io", Version: "v1", Resource: "selfsubjectaccessreviews"}
	for name, c := range map[string]struct {
		reason      string
		resource    schema.GroupVersionResource
		subresource string
		counts      counter
		want        string
	}{
		"Room":        {"there is room", secrets, "", counter{org: 4}, ""},
		"Full":        {"there is none", secrets, "", counter{org: 5}, `has reached its total object count limit (5/5 objects); delete objects to free up capacity`},
		"Over":        {"limits may become lower", secrets, "", counter{org: 7}, `(7/5 objects)`},
		"Elsewhere":   {"other clusters do not matter", secrets, "", counter{logicalcluster.Root: 7}, ""},
		"Uncounted":   {"nobody counts where nobody is limited", secrets, "", nil, ""},
		"Subresource": {"a token is no object", secrets, "token", counter{org: 5}, ""},
		"Review":      {"a review neither", reviews, "", counter{org: 5}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			a := admissiontest.Request{
				Resource: c.resource, Kind: "Kind", Subresource: c.subresource, Operation: admission.Create, Namespace: "default", Name: "a",
			}.Attributes()
			err := objectlimit.New(limits, c.counts).Validate(admissiontest.In(t, org), a, nil)
			admissiontest.Check(t, c.reason, err, c.want)
		})
	}
	a := admissiontest.Request{Resource: secrets, Kind: "Kind", Operation: admission.Create, Name: "a"}.Attributes()
	if err := objectlimit.New(limits, counter{org: -1}).Validate(admissiontest.In(t, org), a, nil); !apierrors.IsServiceUnavailable(err) {
		t.Errorf("what cannot be found out may be tried again, got %v", err)
	}
}

func TestWatch(t *testing.T) {
	lc := func(value string) *corev1alpha1.LogicalCluster {
		lc := &corev1alpha1.LogicalCluster{}
		lc.Annotations = map[string]string{corev1alpha1.MaxTotalObjectsAnnotationKey: value}
		return lc
	}
	for name, c := range map[string]struct {
		reason   string
		resource storage.Resource
		object   *corev1alpha1.LogicalCluster
		want     bool
	}{
		"Limited":   {"somebody is limited", cached.LogicalClusters, lc("5"), true},
		"Unlimited": {"somebody is explicitly not", cached.LogicalClusters, lc("0"), false},
		"Without":   {"nobody has said anything", cached.LogicalClusters, &corev1alpha1.LogicalCluster{}, false},
		"Other":     {"the annotation means nothing on other objects", cached.Workspaces, lc("5"), false},
	} {
		t.Run(name, func(t *testing.T) {
			counts := false
			objectlimit.Watch(func() { counts = true }).Changed(c.resource, c.object)
			if counts != c.want {
				t.Errorf("%s: counting begins: %t", c.reason, counts)
			}
		})
	}
}

func TestCollector(t *testing.T) {
	tree := tenancytest.New(t)
	counts := counter{logicalcluster.Root: 1000}
	for path, count := range map[string]int64{"root:far": 89, "root:close": 90, "root:over": 120} {
		tree.AddCluster(path, "root:organization")
		counts[tenancytest.ClusterAt(path)] = count
	}
	registry := metrics.NewKubeRegistry()
	registry.CustomMustRegister(objectlimit.NewCollector(objectlimit.Limits{Clusters: tree.Clusters(), Default: 100}, counts, "root"))
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, family := range families {
		for _, metric := range family.Metric {
			var labels []string
			for _, label := range metric.Label {
				labels = append(labels, label.GetName()+"="+label.GetValue())
			}
			got[family.GetName()+"{"+strings.Join(labels, ",")+"}"] = metric.GetGauge().GetValue()
		}
	}
	near, over := tenancytest.ClusterAt("root:close").String(), tenancytest.ClusterAt("root:over").String()
	want := map[string]float64{
		"kcp_logicalcluster_object_count{cluster=" + near + ",shard=root}": 90,
		"kcp_logicalcluster_object_limit{cluster=" + near + ",shard=root}": 100,
		"kcp_logicalcluster_object_count{cluster=" + over + ",shard=root}": 120,
		"kcp_logicalcluster_object_limit{cluster=" + over + ",shard=root}": 100,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("only what is close to its limit is measured (-want +got):\n%s", diff)
	}
}
