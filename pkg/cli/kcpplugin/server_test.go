package kcpplugin

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// object is an API object as JSON has it.
type object = map[string]any

// server has objects of some resources in some workspaces, and does with them what a
// test says. It stands for servers that ours is not: old ones, slow ones, those with
// conditions that are hard to bring about.
type server struct {
	*httptest.Server

	mu sync.Mutex
	// objects by path, such as root:a/apis/apis.kcp.io/v1alpha2/apibindings/b.
	objects map[string]object
	// versions of apis.kcp.io, v1alpha1 and v1alpha2 if it is nil.
	versions []string
	// forbidden are the paths, with what is below them, that the caller may not use.
	forbidden []string
	// created is called with each object before it is stored.
	created func(path string, o object)
	// read is called with each object before it is sent; it says whether it is still there.
	read func(path string, o object) bool
	// conflicts is how many patches fail because somebody else was faster.
	conflicts int

	version  int
	requests []string
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{objects: map[string]object{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// put stores an object that is there from the beginning.
func (s *server) put(t *testing.T, path, content string) {
	t.Helper()
	var o object
	if err := json.Unmarshal([]byte(content), &o); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	s.store(path, o)
}

func (s *server) store(path string, o object) {
	s.version++
	metadata, _ := o["metadata"].(object)
	if metadata == nil {
		metadata = object{}
		o["metadata"] = metadata
	}
	metadata["name"] = path[strings.LastIndex(path, "/")+1:]
	metadata["resourceVersion"] = strconv.Itoa(s.version)
	metadata["uid"] = "uid-of-" + metadata["name"].(string)
	s.objects[path] = o
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests = append(s.requests, r.Method+" "+r.URL.Path)
	path := strings.TrimPrefix(r.URL.Path, "/clusters/")
	for _, f := range s.forbidden {
		if strings.HasPrefix(path, f) {
			respond(w, apierrors.NewForbidden(schema.GroupResource{}, "", fmt.Errorf("access denied")))
			return
		}
	}
	switch parts := strings.Split(path, "/"); {
	case len(parts) == 3 && parts[1] == "apis":
		s.group(w, parts[2])
	case r.Method == http.MethodPost && strings.HasSuffix(path, "selfsubjectaccessreviews"):
		respond(w, object{"status": object{"allowed": true}})
	case r.Method == http.MethodPost:
		s.create(w, r, path)
	case s.objects[path] == nil && len(parts) > 5:
		respond(w, notFound(path))
	case r.Method == http.MethodPatch:
		s.patch(w, r, path)
	case r.Method == http.MethodDelete:
		s.objects[path]["metadata"].(object)["deletionTimestamp"] = "2026-01-01T00:00:00Z"
		respond(w, s.objects[path])
	case s.objects[path] != nil:
		if s.read != nil && !s.read(path, s.objects[path]) {
			respond(w, notFound(path))
			return
		}
		respond(w, s.objects[path])
	default:
		s.list(w, path)
	}
}

func (s *server) group(w http.ResponseWriter, name string) {
	versions := s.versions
	if name != "apis.kcp.io" {
		versions = []string{"v1"}
	} else if versions == nil {
		versions = []string{"v1alpha2", "v1alpha1"}
	}
	group := metav1.APIGroup{Name: name}
	for _, version := range versions {
		group.Versions = append(group.Versions, metav1.GroupVersionForDiscovery{Version: version, GroupVersion: name + "/" + version})
	}
	respond(w, group)
}

func (s *server) list(w http.ResponseWriter, path string) {
	var names []string
	for name := range s.objects {
		if strings.HasPrefix(name, path+"/") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	items := []object{}
	for _, name := range names {
		items = append(items, s.objects[name])
	}
	respond(w, object{"items": items})
}

func (s *server) create(w http.ResponseWriter, r *http.Request, path string) {
	var o object
	if err := json.NewDecoder(r.Body).Decode(&o); err != nil {
		respond(w, apierrors.NewBadRequest(err.Error()))
		return
	}
	path += "/" + o["metadata"].(object)["name"].(string)
	if s.objects[path] != nil {
		respond(w, apierrors.NewAlreadyExists(resourceOf(path), path[strings.LastIndex(path, "/")+1:]))
		return
	}
	if s.created != nil {
		s.created(path, o)
	}
	if r.URL.Query().Get("dryRun") == "" {
		s.store(path, o)
	}
	respond(w, o)
}

func (s *server) patch(w http.ResponseWriter, r *http.Request, path string) {
	var patch object
	if err := json.NewDecoder(r.Body).Decode(&patch); err != nil || r.Header.Get("Content-Type") != "application/merge-patch+json" {
		respond(w, apierrors.NewBadRequest(fmt.Sprintf("%v", err)))
		return
	}
	o := s.objects[path]
	if s.conflicts > 0 {
		s.conflicts--
		s.store(path, o)
	}
	if version := patch["metadata"].(object)["resourceVersion"]; version != o["metadata"].(object)["resourceVersion"] {
		respond(w, apierrors.NewConflict(resourceOf(path), path[strings.LastIndex(path, "/")+1:], fmt.Errorf("the object has been modified")))
		return
	}
	merge(o, patch)
	s.store(path, o)
	respond(w, o)
}

// merge is a JSON merge patch.
func merge(into, patch object) {
	for key, value := range patch {
		nested, isObject := value.(object)
		present, wasObject := into[key].(object)
		switch {
		case value == nil:
			delete(into, key)
		case isObject && wasObject:
			merge(present, nested)
		default:
			into[key] = value
		}
	}
}

// seen returns the requests since the last call.
func (s *server) seen() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	requests := s.requests
	s.requests = nil
	return requests
}

func resourceOf(path string) schema.GroupResource {
	parts := strings.Split(path, "/")
	return schema.GroupResource{Group: parts[2], Resource: parts[4]}
}

func notFound(path string) error {
	return apierrors.NewNotFound(resourceOf(path), path[strings.LastIndex(path, "/")+1:])
}

// respond writes an object, or an error as its Status.
func respond(w http.ResponseWriter, content any) {
	w.Header().Set("Content-Type", "application/json")
	if err, ok := content.(*apierrors.StatusError); ok {
		status := err.Status()
		status.APIVersion, status.Kind = "v1", "Status"
		w.WriteHeader(int(status.Code))
		content = status
	}
	_ = json.NewEncoder(w).Encode(content)
}
