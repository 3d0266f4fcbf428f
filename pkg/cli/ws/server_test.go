package ws

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

// server is a tree of workspaces in memory, which answers the requests of the plugin.
type server struct {
	*httptest.Server

	mu sync.Mutex
	// workspaces are the Workspace objects, by the path of their parent, in order.
	workspaces map[string][]*tenancyv1alpha1.Workspace
	// clusters are the logical clusters that exist, by path.
	clusters map[string]bool
	// forbidden are the paths of clusters that the caller may not look into.
	forbidden map[string]bool
	// inactive are the paths of clusters that are offline.
	inactive map[string]bool
	// home is the URL of the home workspace, relative to the server; "" if there is none.
	home string
	// bindings are the APIBindings of a cluster, as JSON.
	bindings map[string]string
	// looks is how often a new workspace has to be read until it is ready; -1 is never.
	looks int
	// stuck is what new workspaces say in their status while they are not ready.
	stuck tenancyv1alpha1.WorkspaceStatus

	requests []string
}

// newServer returns a server with the workspace root.
func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{
		workspaces: map[string][]*tenancyv1alpha1.Workspace{},
		clusters:   map[string]bool{"root": true, "system:admin": true},
		forbidden:  map[string]bool{},
		inactive:   map[string]bool{},
		bindings:   map[string]string{},
		stuck:      tenancyv1alpha1.WorkspaceStatus{Phase: corev1alpha1.PhaseInitializing},
	}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// add makes a workspace that is ready.
func (s *server) add(parent, name, workspaceType string) *tenancyv1alpha1.Workspace {
	s.mu.Lock()
	defer s.mu.Unlock()
	ws := s.make(parent, name, &tenancyv1alpha1.WorkspaceTypeReference{Path: "root", Name: workspaceType})
	ws.Status = tenancyv1alpha1.WorkspaceStatus{Phase: corev1alpha1.PhaseReady}
	return ws
}

func (s *server) make(parent, name string, ref *tenancyv1alpha1.WorkspaceTypeReference) *tenancyv1alpha1.Workspace {
	ws := &tenancyv1alpha1.Workspace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	ws.Spec.Type = ref
	ws.Spec.URL = s.URL + "/clusters/" + parent + ":" + name
	s.workspaces[parent] = append(s.workspaces[parent], ws)
	s.clusters[parent+":"+name] = true
	return ws
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r.Method+" "+r.URL.Path)

	rest, ok := strings.CutPrefix(r.URL.Path, "/clusters/")
	if !ok {
		http.NotFound(w, r)
		return
	}
	cluster, rest, _ := strings.Cut(rest, "/")
	resource := schema.GroupResource{Group: "tenancy.kcp.io", Resource: "workspaces"}
	switch {
	case s.forbidden[cluster]:
		respond(w, apierrors.NewForbidden(schema.GroupResource{}, "", fmt.Errorf("workspace access not permitted")))
	case s.inactive[cluster]:
		respond(w, apierrors.NewForbidden(corev1alpha1.Resource("logicalclusters"), cluster, errors.New("logical cluster is marked inactive")))
	case !s.clusters[cluster]:
		respond(w, apierrors.NewNotFound(resource, cluster))
	case rest == "api":
		respond(w, metav1.APIVersions{Versions: []string{"v1"}})
	case rest == "apis":
		respond(w, metav1.APIGroupList{Groups: []metav1.APIGroup{{Name: "tenancy.kcp.io"}}})
	case rest == "apis/tenancy.kcp.io/v1alpha1/workspaces" && r.Method == http.MethodPost:
		s.create(w, r, cluster)
	case rest == "apis/tenancy.kcp.io/v1alpha1/workspaces" && r.URL.Query().Get("watch") != "":
		s.watch(w, r, cluster)
	case rest == "apis/tenancy.kcp.io/v1alpha1/workspaces":
		s.list(w, r, cluster)
	case strings.HasPrefix(rest, "apis/tenancy.kcp.io/v1alpha1/workspaces/"):
		s.get(w, cluster, rest[strings.LastIndex(rest, "/")+1:])
	case rest == "apis/core.kcp.io/v1alpha1/logicalclusters/cluster":
		respond(w, corev1alpha1.LogicalCluster{Status: corev1alpha1.LogicalClusterStatus{Phase: corev1alpha1.PhaseReady}})
	case rest == "apis/apis.kcp.io/v1alpha2/apibindings" && s.bindings[cluster] != "":
		_, _ = fmt.Fprint(w, s.bindings[cluster])
	default:
		respond(w, apierrors.NewGenericServerResponse(http.StatusNotFound, "get", schema.GroupResource{}, "", "", 0, true))
	}
}

// list answers two workspaces at a time, to see that the others are asked for.
func (s *server) list(w http.ResponseWriter, r *http.Request, cluster string) {
	all := s.workspaces[cluster]
	if name := selected(r); name != "" {
		all = slices.DeleteFunc(slices.Clone(all), func(ws *tenancyv1alpha1.Workspace) bool { return ws.Name != name })
	}
	start := len(r.URL.Query().Get("continue"))
	end := min(start+2, len(all))
	list := tenancyv1alpha1.WorkspaceList{}
	for _, ws := range all[start:end] {
		list.Items = append(list.Items, *ws)
	}
	if end < len(all) {
		list.Continue = strings.Repeat("x", end)
	}
	respond(w, list)
}

// selected returns the name that a field selector asks for, "" if there is none.
func selected(r *http.Request) string {
	return strings.TrimPrefix(r.URL.Query().Get("fieldSelector"), "metadata.name=")
}

// watch answers with a change for each look that is still needed, and then with none.
func (s *server) watch(w http.ResponseWriter, r *http.Request, cluster string) {
	w.Header().Set("Content-Type", "application/json")
	ws := s.find(cluster, selected(r))
	for ; ws != nil && s.looks > 0; s.looks-- {
		if s.looks == 1 {
			ws.Status = tenancyv1alpha1.WorkspaceStatus{Phase: corev1alpha1.PhaseReady}
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"type": "MODIFIED", "object": ws})
	}
	w.(http.Flusher).Flush()
	s.mu.Unlock()
	<-r.Context().Done()
	s.mu.Lock()
}

func (s *server) find(cluster, name string) *tenancyv1alpha1.Workspace {
	i := slices.IndexFunc(s.workspaces[cluster], func(ws *tenancyv1alpha1.Workspace) bool { return ws.Name == name })
	if i < 0 {
		return nil
	}
	return s.workspaces[cluster][i]
}

func (s *server) get(w http.ResponseWriter, cluster, name string) {
	if name == "~" && s.home != "" {
		respond(w, tenancyv1alpha1.Workspace{Spec: tenancyv1alpha1.WorkspaceSpec{URL: s.URL + s.home}})
		return
	}
	ws := s.find(cluster, name)
	if ws == nil {
		respond(w, apierrors.NewNotFound(schema.GroupResource{Group: "tenancy.kcp.io", Resource: "workspaces"}, name))
		return
	}
	if s.looks--; s.looks == 0 {
		ws.Status = tenancyv1alpha1.WorkspaceStatus{Phase: corev1alpha1.PhaseReady}
	}
	respond(w, ws)
}

func (s *server) create(w http.ResponseWriter, r *http.Request, cluster string) {
	ws := &tenancyv1alpha1.Workspace{}
	if err := json.NewDecoder(r.Body).Decode(ws); err != nil || r.Header.Get("Content-Type") != "application/json" {
		respond(w, apierrors.NewBadRequest(fmt.Sprintf("%v", err)))
		return
	}
	if s.find(cluster, ws.Name) != nil {
		respond(w, apierrors.NewAlreadyExists(schema.GroupResource{Group: "tenancy.kcp.io", Resource: "workspaces"}, ws.Name))
		return
	}
	// Admission fills in what was not said.
	if ws.Spec.Type == nil {
		ws.Spec.Type = &tenancyv1alpha1.WorkspaceTypeReference{Name: "universal"}
	}
	if ws.Spec.Type.Path == "" {
		ws.Spec.Type.Path = "root"
	}
	made := s.make(cluster, ws.Name, ws.Spec.Type)
	made.Spec.Location = ws.Spec.Location
	made.Status = s.stuck
	if s.looks == 0 {
		made.Status = tenancyv1alpha1.WorkspaceStatus{Phase: corev1alpha1.PhaseReady}
	}
	respond(w, made)
}

// delete marks a workspace as being deleted.
func (s *server) delete(ws *tenancyv1alpha1.Workspace) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := metav1.NewTime(time.Unix(1, 0))
	ws.DeletionTimestamp = &now
}

// seen returns the requests since the last call.
func (s *server) seen() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	requests := s.requests
	s.requests = nil
	return requests
}

// respond writes an object, or an error as its Status.
func respond(w http.ResponseWriter, object any) {
	w.Header().Set("Content-Type", "application/json")
	if err, ok := object.(*apierrors.StatusError); ok {
		status := err.Status()
		status.APIVersion, status.Kind = "v1", "Status"
		w.WriteHeader(int(status.Code))
		object = status
	}
	_ = json.NewEncoder(w).Encode(object)
}
