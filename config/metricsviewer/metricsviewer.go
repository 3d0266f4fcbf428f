// Package metricsviewer holds what the battery metrics-viewer adds to the root workspace:
// a service account with a token, for whoever collects the metrics of the server, and the
// right to read them, which a user called metrics-viewer has as well.
//
// The package only says what should be there. Each call makes fresh objects, which the
// caller owns.
package metricsviewer

import (
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
)

// Battery is the name of the battery.
const Battery = "metrics-viewer"

const (
	// Name is that of the role, of its binding, and of the user.
	Name = "metrics-viewer"
	// Namespace is where the service account is.
	Namespace = metav1.NamespaceDefault
	// Account is the name of the service account and of the secret with its token.
	Account = "metrics"
)

// ClusterRole returns the role that lets somebody read the metrics of the server.
func ClusterRole() *rbacv1.ClusterRole {
	return &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: Name, Annotations: belonging()},
		Rules:      []rbacv1.PolicyRule{{NonResourceURLs: []string{"/metrics"}, Verbs: []string{"get"}}},
	}
}

// ClusterRoleBinding returns the binding that gives the role to the account and the user.
func ClusterRoleBinding() *rbacv1.ClusterRoleBinding {
	return &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: Name, Annotations: belonging()},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: Name},
		Subjects: []rbacv1.Subject{
			{Kind: rbacv1.ServiceAccountKind, Namespace: Namespace, Name: Account},
			{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: Name},
		},
	}
}

// ServiceAccount returns the account. It is left alone once it exists.
func ServiceAccount() *corev1.ServiceAccount {
	return &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: Account, Annotations: once(belonging())}}
}

// Secret returns the secret that the token of the account comes into. It is left alone
// once it exists: the token in it is in use.
func Secret() *corev1.Secret {
	annotations := once(belonging())
	annotations[corev1.ServiceAccountNameKey] = Account
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: Account, Annotations: annotations},
		Type:       corev1.SecretTypeServiceAccountToken,
	}
}

func belonging() map[string]string {
	return map[string]string{corev1alpha1.BatteryAnnotationKey: Battery}
}

func once(annotations map[string]string) map[string]string {
	annotations[corev1alpha1.CreateOnlyAnnotationKey] = "true"
	return annotations
}
