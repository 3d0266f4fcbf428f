package versions

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"

	"github.com/forkless/kcp/internal/servertest"
)

// TestUpgrade: a provider changes the version in which 1,000 objects of a consumer are
// stored, while they are written in the old one. Both versions are served at any time,
// nothing is lost, and in the end all are stored in the new one.
func TestUpgrade(t *testing.T) {
	const count, clients = 1000, 8
	etcd := servertest.StartEtcd(t)
	server := servertest.Start(t, "--etcd-servers="+etcd.Server)
	provider := newProvider(t, server)
	w, bystander := newWorkspace(t, server), newWorkspace(t, server)
	w.bind(provider)
	bystander.bind(provider)
	bystander.create(peopleV1, newPerson("bystander", 7))

	each(clients, count, func(i int) {
		if _, err := w.of(peopleV1).Create(t.Context(), w.object(newPerson(nameOf(i), i)), metav1.CreateOptions{}); err != nil {
			t.Error(err)
		}
	})
	before := w.list(peopleV1, count)

	// Somebody writes while it happens, each object of the last hundred again and again.
	written := make([]int, 100)
	ctx, stop := context.WithCancel(t.Context())
	var writing sync.WaitGroup
	writing.Go(func() {
		for round := 1; ctx.Err() == nil; round++ {
			for i := range written {
				_, err := w.of(peopleV1).Patch(t.Context(), nameOf(count-1-i), types.MergePatchType,
					fmt.Appendf(nil, `{"spec":{"notes":{"round":"%d"}}}`, round), metav1.PatchOptions{})
				if err != nil {
					t.Errorf("writing beside: %v", err)
					return
				}
				written[i] = round
				if ctx.Err() != nil {
					return
				}
			}
		}
	})
	begun := time.Now()
	provider.upgrade()
	w.awaitSchema(secondSchema)
	served := time.Since(begun)
	// At once, whatever is migrated by now.
	for i, u := range w.list(peopleV2, count) {
		w.expect("converted", u, "spec.name.last", fmt.Sprintf("%q", nameOf(i)))
		w.expect("converted", u, "spec.years", fmt.Sprint(i))
	}
	awaitStored(t, etcd, "v2", count+1)
	migrated := time.Since(begun)
	stop()
	writing.Wait()
	t.Logf("served in both versions after %s, all %d stored in v2 after %s, %d writes beside", served, count, migrated, sum(written))

	for i, u := range w.list(peopleV1, count) {
		was := before[i]
		if u.GetUID() != was.GetUID() || u.GetGeneration() != was.GetGeneration() && i < count-len(written) {
			t.Errorf("%s: generation %d, was %d: it is another object", u.GetName(), u.GetGeneration(), was.GetGeneration())
		}
		if at := count - 1 - i; at < len(written) && written[at] > 0 {
			w.expect("what was acknowledged is there", u, "spec.notes.round", fmt.Sprintf(`"%d"`, written[at]))
			unstructured.RemoveNestedField(u.Object, "spec", "notes", "round")
		}
		w.expect("what was there is there", u, "spec", field(was, "spec"))
		w.expect("nobody's fields have become another's", u, "metadata.annotations", field(was, "metadata.annotations"))
	}
	w.expect("others are migrated, too", bystander.get(peopleV2, "bystander"), "spec.years", "7")

	// A schema may leave the old version out now, and what is preserved of it stays.
	provider.create(schemas, peopleSchema("v3.people.example.com", "", version2))
	provider.replace("v3.people.example.com")
	w.awaitSchema("v3.people.example.com")
	for i, u := range w.list(peopleV2, count) {
		w.expect("without the old version", u, "spec.years", fmt.Sprint(i))
		w.expect("without the old version", u, `metadata.annotations`, fmt.Sprintf(
			`{"kcp.io/cluster":%q,"preserve.conversion.apis.kcp.io/v1":"{\"spec.nickname\":\"Nan\"}"}`, w.cluster))
	}
}

// TestDowngrade: back to the version from before, objects are stored in that again.
func TestDowngrade(t *testing.T) {
	etcd := servertest.StartEtcd(t)
	server := servertest.Start(t, "--etcd-servers="+etcd.Server)
	provider, w := newProvider(t, server), newWorkspace(t, server)
	w.bind(provider)
	w.create(peopleV1, newPerson("ann", 1))
	provider.upgrade()
	w.awaitSchema(secondSchema)
	awaitStored(t, etcd, "v2", 1)
	provider.create(schemas, peopleSchema("v3.people.example.com", "{strategy: None}", version2, version1))
	provider.create(conversions, strings.Replace(rules, "name: v2.people", "name: v3.people", 1))
	provider.replace("v3.people.example.com")
	w.awaitSchema("v3.people.example.com")
	awaitStored(t, etcd, "v1", 1)
	w.expect("nothing is lost", w.get(peopleV1, "ann"), "spec", `{"age":1,"name":"Ann ann","nickname":"Nan","notes":{"a.b/c":"d"}}`)
}

func nameOf(i int) string { return fmt.Sprintf("p%04d", i) }

// each calls do for 0 to count-1, some at a time.
func each(clients, count int, do func(i int)) {
	var wait sync.WaitGroup
	for client := range clients {
		wait.Go(func() {
			for i := client; i < count; i += clients {
				do(i)
			}
		})
	}
	wait.Wait()
}

// list returns the people of a workspace, of whom there are count, in order.
func (w workspace) list(resource schema.GroupVersionResource, count int) []*unstructured.Unstructured {
	w.Helper()
	list, err := w.of(resource).List(w.Context(), metav1.ListOptions{})
	if err != nil {
		w.Fatalf("listing: %v", err)
	}
	if len(list.Items) != count {
		w.Fatalf("there are %d, want %d", len(list.Items), count)
	}
	people := make([]*unstructured.Unstructured, count)
	for i := range list.Items {
		people[i] = &list.Items[i]
		if people[i].GetName() != nameOf(i) {
			w.Fatalf("number %d is %s", i, people[i].GetName())
		}
	}
	return people
}

// awaitStored waits until count people, and no others, are stored in a version. It looks
// seldom, since it reads all of etcd, and has patience: migrating goes at its own pace.
func awaitStored(t testing.TB, etcd *servertest.Etcd, version string, count int) {
	t.Helper()
	var seen map[string]int
	err := wait.PollUntilContextTimeout(t.Context(), 200*time.Millisecond, 4*servertest.Patience, true, func(context.Context) (bool, error) {
		seen = storedVersions(t, etcd)
		return seen[version] == count && len(seen) == 1, nil
	})
	if err != nil {
		t.Fatalf("%d have to be stored in %s, last seen: %v", count, version, seen)
	}
}

// storedVersions counts the people in etcd by the version they are stored in.
func storedVersions(t testing.TB, etcd *servertest.Etcd) map[string]int {
	t.Helper()
	versions := map[string]int{}
	for _, value := range etcd.Values(t, "/example.com/people/") {
		version, _, _ := strings.Cut(strings.TrimPrefix(value, `{"apiVersion":"example.com/`), `"`)
		versions[version]++
	}
	return versions
}

func sum(numbers []int) int {
	total := 0
	for _, n := range numbers {
		total += n
	}
	return total
}
