package contract

import (
	"errors"
	"fmt"
	"net/http"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apitypes "k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

var restrictions = map[string]behavior{
	"RequiredGroups":          {"a semicolon separates alternatives, a comma what is needed together", requiredGroups},
	"RequiredGroupsInherited": {"new children have the restriction of their parent, later changes stay where they are", requiredGroupsInherited},
	"Inactive":                {"an inactive workspace answers nobody until it is made active again", inactive},
}

func requireGroups(t *testing.T, inside caller, groups string) {
	t.Helper()
	_, err := inside.patchCluster(fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, tenancyv1alpha1.RequiredGroupsAnnotationKey, groups))
	ok(t, err)
}

func requiredGroups(t *testing.T, s *suite) {
	path := s.universal(t)
	master := s.as(t, s.master, path)
	master.bind("cluster-admin", group("system:authenticated"))
	requireGroups(t, master, "a,b;c")
	for name, test := range map[string]struct {
		groups []string
		want   int
	}{
		"None":       {nil, http.StatusForbidden},
		"OneOfTwo":   {[]string{"a"}, http.StatusForbidden},
		"TheOther":   {[]string{"b"}, http.StatusForbidden},
		"Both":       {[]string{"a", "b"}, http.StatusOK},
		"OtherGroup": {[]string{"c"}, http.StatusOK},
		"Stranger":   {[]string{"d"}, http.StatusForbidden},
	} {
		somebody := master.like("somebody", test.groups, nil)
		eventually(t, name, func() error {
			if a := somebody.get("/api/v1/namespaces"); a.code != test.want {
				return fmt.Errorf("got %d %s, want %d", a.code, a.body, test.want)
			}
			return nil
		})
	}
	got(t, s.as(t, s.admin, path).get("/api/v1/namespaces"), 200)
}

func requiredGroupsInherited(t *testing.T, s *suite) {
	path := s.organization(t, aliceName)
	master, admin := s.as(t, s.master, path), s.as(t, s.admin, path)
	master.bind("cluster-admin", group("team-1"))
	requireGroups(t, master, "team-1")
	eventually(t, "others are kept out", func() error {
		if a := s.as(t, bob, path).get("/api"); a.code != http.StatusForbidden {
			return fmt.Errorf("got %d", a.code)
		}
		return nil
	})
	var ws *tenancyv1alpha1.Workspace
	eventually(t, "a new child has the groups of its parent", func() (err error) {
		ws, err = admin.create()
		if err == nil && ws.Annotations[tenancyv1alpha1.RequiredGroupsAnnotationKey] != "team-1" {
			err = fmt.Errorf("annotations %v", ws.Annotations)
		}
		return err
	})
	admin.ready(ws.Name)
	child := s.as(t, s.admin, path+":"+ws.Name)
	child.bind("cluster-admin", user(bobName))
	requires := func() string { return child.cluster().Annotations[tenancyv1alpha1.RequiredGroupsAnnotationKey] }
	if requires() != "team-1" {
		t.Errorf("the child requires %q", requires())
	}
	got(t, s.as(t, bob, path+":"+ws.Name).get("/api/v1/namespaces"), 403)
	requireGroups(t, master, "team-2")
	if requires() != "team-1" {
		t.Errorf("the child requires %q after a change of its parent", requires())
	}
}

func inactive(t *testing.T, s *suite) {
	path := s.universal(t, aliceName)
	inside := s.as(t, alice, path)
	stream, err := inside.kube().CoreV1().ConfigMaps("default").Watch(t.Context(), metav1.ListOptions{})
	ok(t, err)
	defer stream.Stop()
	setInactive := func(value string) {
		t.Helper()
		_, err := s.as(t, s.admin, path).clusters().Patch(t.Context(), corev1alpha1.LogicalClusterName, apitypes.MergePatchType,
			fmt.Appendf(nil, `{"metadata":{"annotations":{%q:%s}}}`, corev1alpha1.InactiveAnnotationKey, value), metav1.PatchOptions{})
		ok(t, err)
	}
	answers := func(token string, code int) {
		t.Helper()
		eventually(t, "the content answers as it should", func() error {
			if a := s.as(t, token, path).get("/api/v1/namespaces"); a.code != code {
				return fmt.Errorf("got %d %s, want %d", a.code, a.body, code)
			}
			return nil
		})
	}
	setInactive(`"true"`)
	for _, token := range []string{alice, s.admin, s.master} {
		answers(token, http.StatusForbidden)
	}
	got(t, inside.get("/api/v1/namespaces"), 403, "logical cluster is marked inactive")
	if err := ended(stream); err != nil {
		t.Error(err)
	}
	eventually(t, "the phase says it", func() error {
		if phase := s.as(t, s.admin, path).cluster().Status.Phase; phase != corev1alpha1.PhaseInactive {
			return fmt.Errorf("phase %s", phase)
		}
		return nil
	})
	setInactive("null")
	for _, token := range []string{alice, s.admin} {
		answers(token, http.StatusOK)
	}
}

// ended waits until the server closes a watch.
func ended(stream watch.Interface) error {
	deadline := time.After(patience)
	for {
		select {
		case _, open := <-stream.ResultChan():
			if !open {
				return nil
			}
		case <-deadline:
			return errors.New("the watch is still open")
		}
	}
}
