// Package namespace holds what every namespace has from its beginning, as typed objects:
// the service account default, and the certificates to know the server by, in the
// ConfigMap kube-root-ca.crt. Names and texts are those of Kubernetes.
//
// Each call makes a fresh object, which the caller owns. The package only says what
// should be there: namespaces that the server makes are born with it, and a controller
// gives it to the others and keeps it so.
package namespace

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/pkg/controller/certificates/rootcacertpublisher"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
)

const (
	// DefaultAccount is the name of the service account of every namespace.
	DefaultAccount = "default"
	// RootCA is the name of the ConfigMap with certificates of every namespace.
	RootCA = rootcacertpublisher.RootCACertConfigMapName
	// DescriptionAnnotationKey is the annotation of that ConfigMap that says what it is for.
	DescriptionAnnotationKey = rootcacertpublisher.DescriptionAnnotation
	// Description is the value of that annotation.
	Description = rootcacertpublisher.Description
)

// New returns a namespace of the server's own making: it is left alone once it exists.
func New(name string) *corev1.Namespace {
	return &corev1.Namespace{
		ObjectMeta: metav1.ObjectMeta{
			Name:        name,
			Labels:      map[string]string{corev1.LabelMetadataName: name},
			Annotations: map[string]string{corev1alpha1.CreateOnlyAnnotationKey: "true"},
		},
		Spec:   corev1.NamespaceSpec{Finalizers: []corev1.FinalizerName{corev1.FinalizerKubernetes}},
		Status: corev1.NamespaceStatus{Phase: corev1.NamespaceActive},
	}
}

// NewDefaultAccount returns the service account of a namespace.
func NewDefaultAccount(namespace string) *corev1.ServiceAccount {
	return &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: DefaultAccount}}
}

// NewRootCA returns the ConfigMap with bundle, the certificates in PEM, of a namespace.
func NewRootCA(namespace, bundle string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{
			Namespace:   namespace,
			Name:        RootCA,
			Annotations: map[string]string{DescriptionAnnotationKey: Description},
		},
		Data: map[string]string{corev1.ServiceAccountRootCAKey: bundle},
	}
}
