package ownerreferences_test

import (
	"context"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/utils/ptr"

	"github.com/forkless/kcp/internal/admission/admissiontest"
	"github.com/forkless/kcp/internal/admission/ownerreferences"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// may is an authorizer that allows what is listed, as
// "<cluster> <verb> <resource>[/<subresource>] <namespace>/<name>".
type may []string

func (m may) Authorize(ctx context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
	cluster, _ := logicalcluster.FromContext(ctx)
	asked := cluster.String() + " " + a.GetVerb() + " " + a.GetResource()
	if a.GetSubresource() != "" {
		asked += "/" + a.GetSubresource()
	}
	if slices.Contains(m, asked+" "+a.GetNamespace()+"/"+a.GetName()) {
		return authorizer.DecisionAllow, "", nil
	}
	return authorizer.DecisionNoOpinion, "", nil
}

// kinds: secrets are everywhere, widgets in one only.
func kinds(cluster logicalcluster.Name) meta.RESTMapper {
	mapper := meta.NewDefaultRESTMapper(nil)
	mapper.Add(corev1.SchemeGroupVersion.WithKind("Secret"), meta.RESTScopeNamespace)
	if cluster.String() == "one" {
		mapper.Add(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Widget"}, meta.RESTScopeRoot)
	}
	return mapper
}

func configMap(refs ...metav1.OwnerReference) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a", OwnerReferences: refs}}
}

func TestPlugin(t *testing.T) {
	secret := metav1.OwnerReference{APIVersion: "v1", Kind: "Secret", Name: "owner", UID: "1"}
	widget := metav1.OwnerReference{APIVersion: "example.com/v1", Kind: "Widget", Name: "owner", UID: "2"}
	blocking := func(ref metav1.OwnerReference) metav1.OwnerReference {
		ref.BlockOwnerDeletion = ptr.To(true)
		return ref
	}
	cases := map[string]struct {
		reason   string
		cluster  string
		may      may
		old, obj *corev1.ConfigMap
		want     string
	}{
		"Creating": {
			reason: "who creates an object could have left it", obj: configMap(secret),
		},
		"Adding": {
			reason: "an owner is a way to have an object deleted", old: configMap(), obj: configMap(secret),
			want: "cannot set an ownerRef on a resource you can't delete",
		},
		"Removing": {
			reason: "so is taking one away", old: configMap(secret, widget), obj: configMap(secret),
			want: "cannot set an ownerRef on a resource you can't delete",
		},
		"AddingByOneWhoMayDelete": {
			reason: "who may delete the object may have it deleted",
			may:    may{"one delete configmaps default/a"}, old: configMap(), obj: configMap(secret),
		},
		"SameOwners": {
			reason: "other changes are not concerned", old: configMap(blocking(secret)), obj: configMap(blocking(secret)),
		},
		"Blocking": {
			reason: "blocking is like setting a finalizer", obj: configMap(blocking(secret)),
			want: "you can't set finalizers on",
		},
		"BlockingWithPermission": {
			reason: "the permission is about the owner, in the namespace of the dependent",
			may:    may{"one update secrets/finalizers default/owner"}, obj: configMap(blocking(secret)),
		},
		"BlockingAClusterScopedOwner": {
			reason: "the kinds are those of the cluster, and their scope decides the namespace",
			may:    may{"one update widgets/finalizers /owner"}, obj: configMap(blocking(widget)),
		},
		"BlockingAKindOfAnotherCluster": {
			reason: "a kind that only another cluster has is unknown", cluster: "two",
			may: may{"two update widgets/finalizers /owner"}, obj: configMap(blocking(widget)),
			want: "cannot find RESTMapping",
		},
		"PermissionInAnotherCluster": {
			reason: "permissions are asked for in the cluster of the request", cluster: "two",
			may: may{"one update secrets/finalizers default/owner"}, obj: configMap(blocking(secret)),
			want: "you can't set finalizers on",
		},
		"BlockingAnything": {
			reason: "who may finalize everything is not asked about kinds",
			may:    may{"two update */finalizers /*"}, cluster: "two", obj: configMap(blocking(widget)),
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			if c.cluster == "" {
				c.cluster = "one"
			}
			cluster, err := logicalcluster.ParseName(c.cluster)
			if err != nil {
				t.Fatal(err)
			}
			request := admissiontest.Request{
				Resource: corev1.SchemeGroupVersion.WithResource("configmaps"), Kind: "ConfigMap",
				Namespace: "default", Name: "a", Operation: admission.Create, Object: c.obj,
			}
			if c.old != nil {
				request.Operation, request.Old = admission.Update, c.old
			}
			err = ownerreferences.New(kinds, c.may).Validate(admissiontest.In(t, cluster), request.Attributes(), nil)
			admissiontest.Check(t, c.reason, err, c.want)
		})
	}
}
