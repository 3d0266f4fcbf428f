package server_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/forkless/kcp/internal/servertest"
)

// audit is a server with an audit log.
type audit struct {
	*servertest.Server
	log string
}

// startAudited starts a server that audits by a policy.
func startAudited(t *testing.T, policy string, flags ...string) audit {
	t.Helper()
	directory := t.TempDir()
	file, log := filepath.Join(directory, "policy.yaml"), filepath.Join(directory, "audit.log")
	policy = "apiVersion: audit.k8s.io/v1\nkind: Policy\n" + policy
	if err := os.WriteFile(file, []byte(policy), 0o600); err != nil {
		t.Fatal(err)
	}
	flags = append([]string{servertest.WithUsers(t), "--audit-policy-file=" + file, "--audit-log-path=" + log}, flags...)
	return audit{servertest.Start(t, flags...), log}
}

// events returns what was logged so far.
func (a audit) events(t *testing.T) []auditv1.Event {
	t.Helper()
	content, err := os.ReadFile(a.log)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	var events []auditv1.Event
	lines := bufio.NewScanner(bytes.NewReader(content))
	lines.Buffer(nil, 10<<20)
	for lines.Scan() {
		var event auditv1.Event
		if err := json.Unmarshal(lines.Bytes(), &event); err != nil {
			t.Fatalf("line %q: %v", lines.Text(), err)
		}
		events = append(events, event)
	}
	return events
}

// eventually waits for an event about an agent's request at a stage.
func (a audit) eventually(t *testing.T, agent string, stage auditv1.Stage) auditv1.Event {
	t.Helper()
	var found auditv1.Event
	servertest.Eventually(t, agent+" is at "+string(stage), func() (bool, any) {
		events := a.events(t)
		for _, event := range events {
			if event.UserAgent == agent && event.Stage == stage {
				found = event
				return true, nil
			}
		}
		return false, len(events)
	})
	return found
}

func (a audit) client(t *testing.T, token, workspace, agent string) kubernetes.Interface {
	t.Helper()
	config := a.As(t, token, workspace)
	config.UserAgent = agent
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func allow(t *testing.T, s *servertest.Server, workspace, user string) {
	t.Helper()
	client, err := kubernetes.NewForConfig(s.In(t, "base", workspace))
	if err != nil {
		t.Fatal(err)
	}
	bind(t, client, user, "cluster-admin")
	bind(t, client, user, "system:kcp:workspace:access")
}

const everything = "rules: [{level: RequestResponse}]\n"

// TestAuditSaysWhere: an event says which workspace it is about, by its cluster and its
// path, and what each step of authorization said.
func TestAuditSaysWhere(t *testing.T) {
	a := startAudited(t, everything)
	a.Workspace(t, "root", "team")
	app := a.Workspace(t, "root:team", "app")
	allow(t, a.Server, "root:team:app", "user-1")
	cluster := app.Spec.Cluster

	client := a.client(t, "user-1-token", "root:team:app", "reader")
	servertest.Eventually(t, "the binding counts", func() (bool, any) {
		_, err := client.CoreV1().ConfigMaps("default").Get(t.Context(), "missing", metav1.GetOptions{})
		return apierrors.IsNotFound(err), err
	})
	writer := a.client(t, "user-1-token", "root:team:app", "writer")
	configMap := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "written"}, Data: map[string]string{"key": "value"}}
	if _, err := writer.CoreV1().ConfigMaps("default").Create(t.Context(), configMap, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	event := a.eventually(t, "writer", auditv1.StageResponseComplete)
	if event.RequestURI != "/api/v1/namespaces/default/configmaps" {
		t.Errorf("the URI is %s: it has to be without the workspace", event.RequestURI)
	}
	want := map[string]string{
		"kcp.io/cluster":                                 cluster,
		"tenancy.kcp.io/workspace":                       cluster,
		"kcp.io/path":                                    "root:team:app",
		"authorization.k8s.io/decision":                  "allow",
		"authorization.k8s.io/reason":                    "access granted",
		"request.auth.kcp.io/01-requiredgroups-decision": "Allowed",
		"request.auth.kcp.io/02-content-decision":        "Allowed",
		"request.auth.kcp.io/03-systemcrd-decision":      "Allowed",
		"request.auth.kcp.io/05-local-decision":          "Allowed",
	}
	for key, value := range want {
		if got := event.Annotations[key]; got != value {
			t.Errorf("annotation %s is %q, want %q", key, got, value)
		}
	}
	for _, step := range []string{"01-requiredgroups", "02-content", "03-systemcrd", "05-local"} {
		if event.Annotations["request.auth.kcp.io/"+step+"-reason"] == "" {
			t.Errorf("step %s gives no reason", step)
		}
	}
	if event.User.Username != "user-1" || event.Verb != "create" || event.ObjectRef == nil || event.ObjectRef.Name != "written" {
		t.Errorf("the event is about %s %s %v", event.User.Username, event.Verb, event.ObjectRef)
	}
	if event.RequestObject == nil || !strings.Contains(string(event.ResponseObject.Raw), cluster) {
		t.Error("what was sent and answered is missing")
	}

	t.Run("Review", func(t *testing.T) {
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "get", Resource: "secrets", Namespace: "default"},
		}}
		reviewer := a.client(t, "user-1-token", "root:team:app", "reviewer")
		if _, err := reviewer.AuthorizationV1().SelfSubjectAccessReviews().Create(t.Context(), review, metav1.CreateOptions{}); err != nil {
			t.Fatal(err)
		}
		event := a.eventually(t, "reviewer", auditv1.StageResponseComplete)
		if got := event.Annotations["sar.auth.kcp.io/05-local-decision"]; got != "Allowed" {
			t.Errorf("the reviewed request was decided %q by the local policy", got)
		}
	})
	t.Run("Privileged", func(t *testing.T) {
		master := a.client(t, "admin-token", "root:team:app", "master")
		if _, err := master.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{}); err != nil {
			t.Fatal(err)
		}
		event := a.eventually(t, "master", auditv1.StageResponseComplete)
		for key := range event.Annotations {
			if strings.HasPrefix(key, "request.auth.kcp.io/") {
				t.Errorf("no step was asked about the privileged, but %s is there", key)
			}
		}
		if event.Annotations["kcp.io/cluster"] != cluster {
			t.Errorf("annotations are %v", event.Annotations)
		}
	})
	t.Run("Denied", func(t *testing.T) {
		denied := a.client(t, "user-2-token", "root:team:app", "denied")
		if _, err := denied.CoreV1().Secrets("").List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
			t.Fatalf("a stranger gets %v", err)
		}
		event := a.eventually(t, "denied", auditv1.StageResponseComplete)
		if event.Annotations["authorization.k8s.io/decision"] != "forbid" || event.ResponseStatus.Code != http.StatusForbidden {
			t.Errorf("the event says %v, code %d", event.Annotations, event.ResponseStatus.Code)
		}
		if got := event.Annotations["request.auth.kcp.io/02-content-reason"]; !strings.Contains(got, "no verb=access permission on /") {
			t.Errorf("the step that did not let go on says %q", got)
		}
	})
	t.Run("NotAuthenticated", func(t *testing.T) {
		unknown := a.client(t, "garbage", "root:team:app", "unknown")
		if _, err := unknown.CoreV1().Secrets("").List(t.Context(), metav1.ListOptions{}); !apierrors.IsUnauthorized(err) {
			t.Fatalf("garbage gets %v", err)
		}
		event := a.eventually(t, "unknown", auditv1.StageResponseStarted)
		if event.ResponseStatus.Code != http.StatusUnauthorized || event.Annotations["kcp.io/cluster"] != cluster {
			t.Errorf("the event says %v, code %d", event.Annotations, event.ResponseStatus.Code)
		}
	})
	t.Run("ProcessPath", func(t *testing.T) {
		config := a.As(t, "user-1-token", "root:team:app")
		config.UserAgent = "scraper"
		if code, _ := get(t, config, "/metrics"); code != http.StatusNotImplemented {
			t.Fatalf("the metrics of a workspace answer %d", code)
		}
		event := a.eventually(t, "scraper", auditv1.StageResponseComplete)
		if event.Annotations["shardpaths.kcp.io/rejected"] == "" {
			t.Errorf("annotations are %v", event.Annotations)
		}
	})
}

// TestAuditPolicy: rules select by user, verb, resource and namespace, and leave out
// stages.
func TestAuditPolicy(t *testing.T) {
	a := startAudited(t, `
omitStages: [RequestReceived]
rules:
- {level: None, users: [user-2]}
- {level: None, resources: [{group: "", resources: [events]}]}
- {level: Request, verbs: [create], resources: [{group: "", resources: [configmaps]}], namespaces: [default]}
- {level: RequestResponse, userGroups: [team-3]}
- {level: Metadata}
`)
	allow(t, a.Server, "root", "user-1")
	allow(t, a.Server, "root", "user-2")
	allow(t, a.Server, "root", "user-3")
	one := a.client(t, "user-1-token", "root", "one")
	servertest.Eventually(t, "the bindings count", func() (bool, any) {
		_, err := one.CoreV1().Events("default").List(t.Context(), metav1.ListOptions{})
		return err == nil, err
	})
	create := func(token, agent string) {
		client := a.client(t, token, "root", agent)
		servertest.Eventually(t, agent+" may create", func() (bool, any) {
			_, err := client.CoreV1().ConfigMaps("default").Create(t.Context(),
				&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: "x"}}, metav1.CreateOptions{})
			return err == nil, err
		})
	}
	create("user-2-token", "silent")
	create("user-1-token", "writer")
	three := a.client(t, "user-3-token", "root", "three")
	servertest.Eventually(t, "the binding of the third counts", func() (bool, any) {
		_, err := three.CoreV1().ConfigMaps("default").List(t.Context(), metav1.ListOptions{})
		return err == nil, err
	})
	if event := a.eventually(t, "writer", auditv1.StageResponseComplete); event.Level != auditv1.LevelRequest || event.RequestObject == nil || event.ResponseObject != nil {
		t.Errorf("the level of what was written is %s", event.Level)
	}
	if event := a.eventually(t, "three", auditv1.StageResponseComplete); event.Level != auditv1.LevelRequestResponse {
		t.Errorf("the level of the third is %s", event.Level)
	}
	for _, event := range a.events(t) {
		switch {
		case event.Stage == auditv1.StageRequestReceived:
			t.Errorf("a stage that is left out was logged: %s", event.RequestURI)
		case event.User.Username == "user-2":
			t.Errorf("a user who is not audited was: %s", event.RequestURI)
		case event.ObjectRef != nil && event.ObjectRef.Resource == "events":
			t.Errorf("a resource that is not audited was: %s", event.RequestURI)
		}
	}
}

// TestAuditOfWatches: a watch is there in three events, the last when it ends.
func TestAuditOfWatches(t *testing.T) {
	a := startAudited(t, everything)
	client := a.client(t, "admin-token", "root", "watcher")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w, err := client.CoreV1().Namespaces().Watch(ctx, metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	a.eventually(t, "watcher", auditv1.StageRequestReceived)
	a.eventually(t, "watcher", auditv1.StageResponseStarted)
	for _, event := range a.events(t) {
		if event.UserAgent == "watcher" && event.Stage == auditv1.StageResponseComplete {
			t.Error("a watch that runs is complete")
		}
	}
	w.Stop()
	cancel()
	a.eventually(t, "watcher", auditv1.StageResponseComplete)
}

// TestAuditIsWrittenToTheEnd: what is buffered, and how watches ended, is in the log when
// the server has stopped.
func TestAuditIsWrittenToTheEnd(t *testing.T) {
	a := startAudited(t, everything, "--audit-log-mode=batch", "--audit-log-batch-max-wait=1h",
		"--audit-log-batch-max-size=100000", "--audit-log-batch-buffer-size=100000")
	client := a.client(t, "admin-token", "root", "writer")
	if _, err := a.client(t, "admin-token", "root", "watcher").CoreV1().Namespaces().Watch(t.Context(), metav1.ListOptions{}); err != nil {
		t.Fatal(err)
	}
	var names []string
	for i := range 200 {
		names = append(names, fmt.Sprintf("x-%d", i))
		_, err := client.CoreV1().ConfigMaps("default").Create(t.Context(),
			&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: names[i]}}, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
	}
	if n := len(a.events(t)); n != 0 {
		t.Errorf("%d events are written already: nothing is buffered", n)
	}
	a.Stop()
	var logged []string
	ended := false
	for _, event := range a.events(t) {
		if event.Stage != auditv1.StageResponseComplete {
			continue
		}
		ended = ended || event.UserAgent == "watcher"
		if event.UserAgent == "writer" && event.ObjectRef != nil {
			logged = append(logged, event.ObjectRef.Name)
		}
	}
	if !ended {
		t.Error("nothing says that the watch has ended")
	}
	for _, name := range names {
		if !slices.Contains(logged, name) {
			t.Errorf("%s was created and is not in the log", name)
		}
	}
}
