package bindings

import (
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/apis/conditions"
)

type gvr = schema.GroupVersionResource

// holders returns the names of the bindings that have bound something, and "c" if there is
// an established definition, once all others say that they cannot.
func (w workspace) holders() string {
	w.Helper()
	holders, waiting, born := "", 0, 0
	list, err := w.client.Resource(bindings).List(w.Context(), metav1.ListOptions{})
	if err != nil {
		w.Fatal(err)
	}
	for i := range list.Items {
		b := into[*apisv1alpha2.APIBinding](w, &list.Items[i])
		switch {
		case b.Spec.Reference.Export.Path == "root":
			born++
		case len(b.Status.BoundResources) > 0 && b.Status.Phase == apisv1alpha2.APIBindingPhaseBound:
			holders += b.Name
		case conditions.Reason(b, apisv1alpha1.InitialBindingCompleted) == apisv1alpha1.ReasonNamingConflicts:
			waiting++
		}
	}
	all, err := w.client.Resource(definitions).List(w.Context(), metav1.ListOptions{})
	if err != nil {
		w.Fatal(err)
	}
	for i := range all.Items {
		for _, c := range into[*apiextensionsv1.CustomResourceDefinition](w, &all.Items[i]).Status.Conditions {
			switch {
			case c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue:
				holders += "c"
			case c.Type == apiextensionsv1.NamesAccepted && c.Status == apiextensionsv1.ConditionFalse:
				waiting++
			}
		}
	}
	if len(holders)+waiting+born != len(list.Items)+len(all.Items) {
		return ""
	}
	return holders
}

func secretRef(namespace, name string) *corev1.SecretReference {
	return &corev1.SecretReference{Namespace: namespace, Name: name}
}

// secret makes a secret with the key of an identity.
func (w workspace) secret(namespace, name, key string) {
	w.Helper()
	w.create(corev1.SchemeGroupVersion.WithResource("secrets"), "Secret", &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Data:       map[string][]byte{apisv1alpha1.SecretKeyAPIExportIdentity: []byte(key)},
	})
}
