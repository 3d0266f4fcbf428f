package kcptest_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/klog/v2"

	"github.com/forkless/kcp/internal/servertest"
	"github.com/forkless/kcp/internal/servertest/manifests"
	"github.com/forkless/kcp/pkg/kcptest"
)

func clientOf(t *testing.T, config *rest.Config) *kubernetes.Clientset {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func TestControlPlane(t *testing.T) {
	t.Parallel()
	c := kcptest.Start(t)

	t.Run("Workspaces", func(t *testing.T) {
		t.Parallel()
		team := c.Workspace(t, kcptest.WithName("team"), kcptest.WithType("root", "organization"))
		if team.Path() != "root:team" || team.Cluster() == "" {
			t.Errorf("the workspace is %s, cluster %q", team.Path(), team.Cluster())
		}
		below := team.Workspace(t, kcptest.WithNamePrefix("app-"))
		if !strings.HasPrefix(below.Path(), "root:team:app-") {
			t.Errorf("the workspace below is %s", below.Path())
		}
		for _, w := range []*kcptest.Workspace{team, below, c.Root(), c.At(below.Cluster())} {
			if _, err := clientOf(t, w.Config()).CoreV1().Namespaces().Get(t.Context(), "default", metav1.GetOptions{}); err != nil {
				t.Errorf("workspace %s cannot be used: %v", w.Path(), err)
			}
		}
	})

	t.Run("WorkspacesAreDeleted", func(t *testing.T) {
		t.Parallel()
		var made *kcptest.Workspace
		t.Run("Test", func(t *testing.T) { made = c.Workspace(t) })
		workspaces := dynamic.NewForConfigOrDie(c.Root().Config()).
			Resource(schema.GroupVersionResource{Group: "tenancy.kcp.io", Version: "v1alpha1", Resource: "workspaces"})
		left, err := workspaces.Get(t.Context(), strings.TrimPrefix(made.Path(), "root:"), metav1.GetOptions{})
		if err == nil && left.GetDeletionTimestamp() == nil {
			t.Error("the workspace of a test that is over is not deleted")
		} else if err != nil && !apierrors.IsNotFound(err) {
			t.Error(err)
		}
	})

	t.Run("Users", func(t *testing.T) {
		t.Parallel()
		w := c.Workspace(t)
		ada := clientOf(t, w.User(t, "ada", "engineers"))
		if _, err := ada.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
			t.Errorf("a user whom nobody has let in: %v", err)
		}
		w.Apply(t, kcptest.YAML(`
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: engineers}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: engineers}]
`))
		eventually(t, "a user whose group was let in", func(ctx context.Context) error {
			_, err := ada.CoreV1().ConfigMaps("default").List(ctx, metav1.ListOptions{})
			return err
		})
	})

	t.Run("Apply", func(t *testing.T) {
		t.Parallel()
		file := filepath.Join(t.TempDir(), "cowboy.yaml")
		if err := os.WriteFile(file, []byte(manifests.Cowboy("two")), 0o600); err != nil {
			t.Fatal(err)
		}
		w := c.Workspace(t)
		w.Apply(t,
			kcptest.FS(fstest.MapFS{"crds/cowboys.yaml": {Data: []byte(manifests.Cowboys + manifests.Cowboy("one"))}}),
			kcptest.Files(file),
			kcptest.Objects(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "three", Namespace: "default"}}),
		)
		list, err := dynamic.NewForConfigOrDie(w.Config()).Resource(servertest.Cowboys).List(t.Context(), metav1.ListOptions{})
		if err != nil || len(list.Items) != 2 {
			t.Errorf("%d cowboys, want 2 (%v)", len(list.Items), err)
		}
		if _, err := clientOf(t, w.Config()).CoreV1().ConfigMaps("default").Get(t.Context(), "three", metav1.GetOptions{}); err != nil {
			t.Error(err)
		}
		if err := w.ApplyContext(t.Context(), kcptest.Files(file, "missing.yaml")); err == nil || !strings.Contains(err.Error(), "missing.yaml") {
			t.Errorf("the file that is not there is not named: %v", err)
		}
		for _, object := range []runtime.Object{nil, (*corev1.ConfigMap)(nil)} {
			if err := w.ApplyContext(t.Context(), kcptest.Objects(object)); err == nil || !strings.Contains(err.Error(), "object 1") {
				t.Errorf("an object that is none is not named: %v", err)
			}
		}
	})

	t.Run("Bind", func(t *testing.T) {
		t.Parallel()
		provider, consumer := c.Workspace(t), c.Workspace(t)
		provider.Apply(t, kcptest.YAML(manifests.Sheriffs("configmaps")))
		consumer.Bind(t, provider.Path(), "sheriffs")
		consumer.Apply(t, kcptest.YAML(manifests.Sheriff("mine")))
		if err := consumer.BindContext(t.Context(), provider.Path(), "wodgets"); err == nil || !strings.Contains(err.Error(), provider.Path()+":wodgets") {
			t.Errorf("the export that is not there is not named: %v", err)
		}
	})

	t.Run("Kubeconfig", func(t *testing.T) {
		t.Parallel()
		w := c.Workspace(t)
		for name, config := range map[string]*rest.Config{"Admin": w.Config(), "User": w.User(t, "grace")} {
			read, err := clientcmd.BuildConfigFromFlags("", kcptest.Kubeconfig(t, config))
			if err != nil {
				t.Fatal(err)
			}
			_, err = clientOf(t, read).CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
			if allowed := name == "Admin"; allowed != (err == nil) {
				t.Errorf("%s with a kubeconfig file: %v", name, err)
			}
		}
	})
}

// TestWithRootDirectory: what is kept in a directory is there again.
func TestWithRootDirectory(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	first := kcptest.Start(t, kcptest.WithRootDirectory(root))
	// Nobody deletes what was made without a test.
	if _, err := first.WorkspaceContext(t.Context(), kcptest.WithName("kept")); err != nil {
		t.Fatal(err)
	}
	if err := first.Stop(); err != nil {
		t.Fatal(err)
	}
	<-first.Stopped()
	second := kcptest.Start(t, kcptest.WithRootDirectory(root))
	if _, err := clientOf(t, second.At("root:kept").Config()).CoreV1().Namespaces().Get(t.Context(), "default", metav1.GetOptions{}); err != nil {
		t.Errorf("the workspace is not there again: %v", err)
	}
	if _, err := kcptest.New(t.Context(), kcptest.WithRootDirectory(root)); err == nil {
		t.Error("two control planes have the same directory")
	}
}

func TestWithWorkloadTypes(t *testing.T) {
	t.Parallel()
	w := kcptest.Start(t, kcptest.WithWorkloadTypes()).Workspace(t)
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "one", Namespace: "default"},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "one", Image: "example.dev/one"}}},
	}
	if _, err := clientOf(t, w.Config()).CoreV1().Pods("default").Create(t.Context(), pod, metav1.CreateOptions{}); err != nil {
		t.Error(err)
	}
}

// TestFlags: what cannot be is refused, with the flag in question, and leaves nothing.
func TestFlags(t *testing.T) {
	kcptest.Start(t)
	for name, tc := range map[string]struct{ reason, flag string }{
		"UnknownFlag": {"a misspelt flag is no flag", "--batterys-included=admin"},
		"BadValue":    {"the flag is named", "--batteries-included=nonsense"},
		"NoAdmins":    {"nobody could set up anything", "--batteries-included=-admin"},
		"OtherGates":  {"gates hold for the process, in which another control plane runs", "--feature-gates=WorkspaceMounts=true"},
	} {
		c, err := kcptest.New(t.Context(), kcptest.WithFlags(tc.flag))
		if err == nil {
			_ = c.Stop()
			t.Errorf("%s: %s: it was not refused", name, tc.reason)
		} else if flag, _, _ := strings.Cut(strings.TrimPrefix(tc.flag, "--"), "="); !strings.Contains(err.Error(), flag) {
			t.Errorf("%s: %s: %v", name, tc.reason, err)
		}
	}
	same, err := kcptest.New(t.Context(), kcptest.WithFlags("--feature-gates=WorkspaceMounts=false"))
	if err != nil {
		t.Fatalf("gates that are what they are anyhow: %v", err)
	}
	if err := same.Stop(); err != nil {
		t.Error(err)
	}
}

// failing is a test that fails, whose output is looked at.
type failing struct {
	testing.TB
	cleanups []func()
	log      bytes.Buffer
	failed   bool
}

func (f *failing) Helper()           {}
func (f *failing) Failed() bool      { return f.failed }
func (f *failing) Cleanup(do func()) { f.cleanups = append(f.cleanups, do) }
func (f *failing) Logf(format string, args ...any) {
	_, _ = f.log.WriteString(strings.TrimSpace(format))
	for _, arg := range args {
		if text, ok := arg.(string); ok {
			_, _ = f.log.WriteString(text)
		}
	}
}

func (f *failing) end() {
	for i := len(f.cleanups) - 1; i >= 0; i-- {
		f.cleanups[i]()
	}
}

// lateLog has the test program run one control plane, and say something when that has ended.
const lateLog = "KCPTEST_LATE_LOG"

// TestLateLog: what parts of a control plane say when it has ended reaches nobody, what
// others say does.
func TestLateLog(t *testing.T) {
	if os.Getenv(lateLog) != "" {
		c, err := kcptest.New(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Stop(); err != nil {
			t.Fatal(err)
		}
		klog.Info("Shutting down DynamicServingCertificateController")
		klog.Info("the test goes on")
		klog.Warning("Shutting down too late")
		klog.Flush()
		return
	}
	t.Parallel()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestLateLog$")
	cmd.Env = append(os.Environ(), lateLog+"=yes")
	said, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	if text := string(said); strings.Contains(text, "Shutting down Dynamic") || !strings.Contains(text, "the test goes on") || !strings.Contains(text, "too late") {
		t.Errorf("standard error is\n%s", text)
	}
}

// TestNoSource: an empty Source is a mistake that says what to do instead.
func TestNoSource(t *testing.T) {
	t.Parallel()
	err := kcptest.Start(t).Root().ApplyContext(t.Context(), kcptest.Source{})
	if err == nil || !strings.Contains(err.Error(), "use Files, FS, YAML or Objects") {
		t.Errorf("got %v", err)
	}
}

func TestLog(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		failed bool
	}{
		"Failed": {"who looks for a reason finds it", true},
		"Passed": {"nobody wants to read it", false},
	} {
		t.Run(name, func(t *testing.T) {
			klog.Warning("nobody listens yet")
			test := &failing{TB: t, failed: tc.failed}
			var live bytes.Buffer
			c := kcptest.Start(test, kcptest.WithLog(&live))
			klog.Warning("a sign of trouble")
			klog.Info("a library says something")
			test.end()
			<-c.Stopped()
			if got := strings.Contains(test.log.String(), "a sign of trouble"); got != tc.failed {
				t.Errorf("%s: the test shows\n%s", tc.reason, test.log.String())
			}
			for _, unwanted := range []string{"nobody listens yet", "a library says something"} {
				if strings.Contains(test.log.String(), unwanted) {
					t.Errorf("the test shows %q", unwanted)
				}
			}
			for _, wanted := range []string{"a sign of trouble", "a library says something"} {
				if !strings.Contains(live.String(), wanted) {
					t.Errorf("WithLog does not get %q, but\n%s", wanted, live.String())
				}
			}
		})
	}
}
