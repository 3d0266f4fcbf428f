package inprocess_test

import (
	"context"
	"path/filepath"
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/forkless/kcp/internal/servertest"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

func clientFor(t *testing.T, config *rest.Config) *kubernetes.Clientset {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// TestArchive: a server that begins with an archive is the one that was saved, at another
// address and with other admins.
func TestArchive(t *testing.T) {
	first := servertest.StartFrom(t, "")
	org := &tenancyv1alpha1.Workspace{ObjectMeta: metav1.ObjectMeta{Name: "org"}}
	if _, err := servertest.CreateWorkspace(t.Context(), first.In("root"), org); err != nil {
		t.Fatal(err)
	}
	client := clientFor(t, first.In("root:org"))
	made, err := client.CoreV1().ConfigMaps("default").Create(t.Context(), &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: "kept"}, Data: map[string]string{"a": "b"},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	token, err := client.CoreV1().ServiceAccounts("default").CreateToken(t.Context(), "default", &authenticationv1.TokenRequest{}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	// The last write is one that leaves nothing but a higher version.
	if err := client.CoreV1().ConfigMaps("default").Delete(t.Context(), "kube-root-ca.crt", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	adminBefore := first.In("root:org")
	file := filepath.Join(t.TempDir(), "state.kcp")
	if err := first.StopAndSave(file); err != nil {
		t.Fatal(err)
	}
	if err := first.StopAndSave(file); err == nil {
		t.Error("a server that has been stopped was saved")
	}

	again := servertest.StartFrom(t, file)
	client = clientFor(t, again.In("root:org"))
	found, err := client.CoreV1().ConfigMaps("default").Get(t.Context(), "kept", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if found.ResourceVersion != made.ResourceVersion || found.UID != made.UID || found.Data["a"] != "b" {
		t.Errorf("the object was %+v and is %+v", made, found)
	}

	t.Run("Watch", func(t *testing.T) { watchGoesOn(t, client, made.ResourceVersion) })
	t.Run("TokenOfServiceAccount", func(t *testing.T) {
		config := rest.AnonymousClientConfig(again.In("root:org"))
		config.BearerToken = token.Status.Token
		who, err := clientFor(t, config).AuthenticationV1().SelfSubjectReviews().Create(t.Context(), &authenticationv1.SelfSubjectReview{}, metav1.CreateOptions{})
		if err != nil || who.Status.UserInfo.Username != "system:serviceaccount:default:default" {
			t.Errorf("a token that was issued before is %+v, %v", who, err)
		}
	})
	t.Run("Certificate", func(t *testing.T) {
		if string(adminBefore.CAData) != string(again.In("root:org").CAData) {
			t.Error("clients have to trust another certificate")
		}
	})
	t.Run("TokenOfAdmin", func(t *testing.T) {
		config := rest.AnonymousClientConfig(again.In("root:org"))
		config.BearerToken = adminBefore.BearerToken
		if _, err := clientFor(t, config).CoreV1().ConfigMaps("default").Get(t.Context(), "kept", metav1.GetOptions{}); err == nil {
			t.Error("an admin of the server that was saved is one of each that begins with it")
		}
	})
}

// watchGoesOn: versions go on behind those from before.
func watchGoesOn(t *testing.T, client *kubernetes.Clientset, before string) {
	t.Helper()
	list, err := client.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), servertest.Patience)
	defer cancel()
	w, err := client.CoreV1().ConfigMaps("default").Watch(ctx, metav1.ListOptions{ResourceVersion: list.ResourceVersion, FieldSelector: "metadata.name=new"})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Stop()
	made, err := client.CoreV1().ConfigMaps("default").Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "new"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	event := <-w.ResultChan()
	if event.Type != watch.Added || event.Object.(metav1.Object).GetName() != "new" {
		t.Errorf("the watch says %v of %v", event.Type, event.Object)
	}
	if len(made.ResourceVersion) < len(before) || len(made.ResourceVersion) == len(before) && made.ResourceVersion <= before {
		t.Errorf("version %s is not behind %s", made.ResourceVersion, before)
	}
}
