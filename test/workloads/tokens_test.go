package workloads

import (
	"testing"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/forkless/kcp/internal/servertest"
)

// TestBoundTokens: a token that is bound to a pod is good as long as that pod is there, the
// one in its own workspace.
func TestBoundTokens(t *testing.T) {
	server := servertest.Start(t, battery)
	client, other := workspace(t, server, "tokens"), workspace(t, server, "other-tokens")
	request := func(c kubernetes.Interface, bound string) (*authenticationv1.TokenRequest, error) {
		return c.CoreV1().ServiceAccounts("default").CreateToken(t.Context(), "runner", &authenticationv1.TokenRequest{
			Spec: authenticationv1.TokenRequestSpec{BoundObjectRef: &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: bound}},
		}, metav1.CreateOptions{})
	}
	running := pod("bound", nil)
	running.Spec.ServiceAccountName = "runner"
	for _, c := range []kubernetes.Interface{client, other} {
		must[*corev1.ServiceAccount](t)(c.CoreV1().ServiceAccounts("default").Create(t.Context(), &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "runner"}}, metav1.CreateOptions{}))
		must[*corev1.Pod](t)(c.CoreV1().Pods("default").Create(t.Context(), running, metav1.CreateOptions{}))
	}
	if _, err := request(client, "absent"); !apierrors.IsNotFound(err) {
		t.Errorf("a token for a pod that is not there: %v", err)
	}
	must[*corev1.Pod](t)(client.CoreV1().Pods("default").Create(t.Context(), pod("of-another", nil), metav1.CreateOptions{}))
	if _, err := request(client, "of-another"); !apierrors.IsBadRequest(err) {
		t.Errorf("a token for the pod of another account: %v", err)
	}
	token := must[*authenticationv1.TokenRequest](t)(request(client, "bound")).Status.Token
	review := func() authenticationv1.TokenReviewStatus {
		return must[*authenticationv1.TokenReview](t)(client.AuthenticationV1().TokenReviews().Create(t.Context(),
			&authenticationv1.TokenReview{Spec: authenticationv1.TokenReviewSpec{Token: token}}, metav1.CreateOptions{})).Status
	}
	if got := review(); !got.Authenticated || got.User.Extra["authentication.kubernetes.io/pod-name"][0] != "bound" {
		t.Errorf("the token says %+v", got)
	}
	if err := client.CoreV1().Pods("default").Delete(t.Context(), "bound", metav1.DeleteOptions{GracePeriodSeconds: new(int64(0))}); err != nil {
		t.Fatal(err)
	}
	servertest.Eventually(t, "the token is worth nothing without its pod", func() (bool, any) {
		got := review()
		return !got.Authenticated, got
	})
}
