// Package finalizer is about objects that are to go and cannot, because of finalizers that
// nobody removes: which these are, who has set them, and how they are taken off.
package finalizer

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	"github.com/forkless/kcp/pkg/cli/client"
	"github.com/forkless/kcp/pkg/cli/diagnosis"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const (
	// mostBlockers is how many objects are blockers of their own, with a command for each.
	mostBlockers = 3
	// mostNotes is how many objects of a resource are named.
	mostNotes = 5
	// atOnce is how many lists are asked for at a time.
	atOnce = 8
)

// ours are the finalizers of the server, which it removes by itself.
var ours = []string{
	apisv1alpha1.APIBindingFinalizer, corev1alpha1.LogicalClusterFinalizer, corev1alpha1.DeletionFinalizer,
	corev1alpha1.TerminatorsFinalizer, "customresourcecleanup.apiextensions.k8s.io",
}

// Held are the objects of a resource that finalizers of others hold.
type Held struct {
	Resource schema.GroupResource
	Objects  []metav1.PartialObjectMetadata
}

// Foreign returns the finalizers that are not the server's.
func Foreign(finalizers []string) []string {
	return slices.DeleteFunc(slices.Clone(finalizers), func(finalizer string) bool { return slices.Contains(ours, finalizer) })
}

// Find returns what finalizers hold of some resources in the workspace p, in order, and the
// resources of which that may not be known. It transfers metadata alone.
func Find(ctx context.Context, c *client.Client, p logicalcluster.Path, resources []schema.GroupVersionResource) (held []Held, unread []string) {
	var (
		group sync.WaitGroup
		lock  sync.Mutex
		seats = make(chan struct{}, atOnce)
	)
	for _, resource := range resources {
		group.Go(func() {
			seats <- struct{}{}
			defer func() { <-seats }()
			objects, err := c.Metadata(ctx, p, resource)
			objects = slices.DeleteFunc(objects, func(o metav1.PartialObjectMetadata) bool { return len(Foreign(o.Finalizers)) == 0 })
			slices.SortFunc(objects, func(a, b metav1.PartialObjectMetadata) int { return cmp.Compare(nameOf(&a), nameOf(&b)) })
			lock.Lock()
			defer lock.Unlock()
			switch {
			case err != nil && !apierrors.IsNotFound(err) && !apierrors.IsMethodNotSupported(err):
				unread = append(unread, resource.GroupResource().String())
			case len(objects) > 0:
				held = append(held, Held{Resource: resource.GroupResource(), Objects: objects})
			}
		})
	}
	group.Wait()
	slices.SortFunc(held, func(a, b Held) int { return cmp.Compare(a.Resource.String(), b.Resource.String()) })
	slices.Sort(unread)
	return held, unread
}

// Count says how much is held.
func Count(all []Held) string {
	objects := 0
	for _, held := range all {
		objects += len(held.Objects)
	}
	return fmt.Sprintf("finalizers hold %s of %s", plural(objects, "object"), plural(len(all), "resource"))
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Details names the objects that are held, their finalizers and who has set these.
func Details(all []Held, now time.Time) []diagnosis.Detail {
	var details []diagnosis.Detail
	for _, held := range all {
		detail := diagnosis.Detail{State: diagnosis.Waiting, Name: held.Resource.String(), Message: plural(len(held.Objects), "object")}
		for i := range held.Objects[:min(len(held.Objects), mostNotes)] {
			object := &held.Objects[i]
			for _, finalizer := range Foreign(object.Finalizers) {
				detail.Notes = append(detail.Notes, fmt.Sprintf("%s: finalizer %s, %s", nameOf(object), finalizer, SetBy(object, finalizer, now)))
			}
		}
		if more := len(held.Objects) - mostNotes; more > 0 {
			detail.Notes = append(detail.Notes, fmt.Sprintf("and %d more", more))
		}
		details = append(details, detail)
	}
	return details
}

func nameOf(object metav1.Object) string {
	if object.GetNamespace() == "" {
		return object.GetName()
	}
	return object.GetNamespace() + "/" + object.GetName()
}

// SetBy says which manager has set a finalizer, and when.
func SetBy(object metav1.Object, finalizer string, now time.Time) string {
	entry := setter(object, finalizer)
	switch {
	case entry == nil:
		return "nobody has recorded who set it"
	case entry.Time == nil:
		return "set by " + entry.Manager
	default:
		return fmt.Sprintf("set by %s %s ago", entry.Manager, diagnosis.Age(now, entry.Time.Time))
	}
}

// setter returns the managed fields that a finalizer is in, nil if there are none.
func setter(object metav1.Object, finalizer string) *metav1.ManagedFieldsEntry {
	wanted := fmt.Sprintf(`"v:\"%s\""`, finalizer)
	fields := object.GetManagedFields()
	i := slices.IndexFunc(fields, func(entry metav1.ManagedFieldsEntry) bool {
		return entry.FieldsV1 != nil && strings.Contains(string(entry.FieldsV1.Raw), wanted)
	})
	if i < 0 {
		return nil
	}
	return &fields[i]
}

// Block makes blockers of what is held in the workspace in.
func Block(d *diagnosis.Diagnosis, commands diagnosis.Commands, in logicalcluster.Path, all []Held) {
	blocked := 0
	for _, held := range all {
		for i := range held.Objects {
			if blocked++; blocked <= mostBlockers {
				object := &held.Objects[i]
				BlockOne(d, commands, in, held.Resource.String(), held.Resource.String()+" "+nameOf(object), object)
			}
		}
	}
	if blocked > mostBlockers {
		d.Block(fmt.Sprintf("finalizers hold %d more objects", blocked-mostBlockers))
	}
}

// BlockOne makes a blocker of an object that finalizers of others hold: what is how it is
// called, and resource what kubectl takes for it.
func BlockOne(d *diagnosis.Diagnosis, commands diagnosis.Commands, in logicalcluster.Path, resource, what string, object metav1.Object) {
	finalizers := Foreign(object.GetFinalizers())
	if len(finalizers) == 0 {
		return
	}
	d.Block(fmt.Sprintf("%s has finalizer %s, %s", what, strings.Join(finalizers, " and "), managers(object, finalizers)),
		removals(commands, in, resource, object)...)
}

// managers names who has set finalizers, without saying when: what blocks is the same a
// minute later.
func managers(object metav1.Object, finalizers []string) string {
	var names []string
	for _, finalizer := range finalizers {
		if entry := setter(object, finalizer); entry != nil && !slices.Contains(names, entry.Manager) {
			names = append(names, entry.Manager)
		}
	}
	if len(names) == 0 {
		return "which nobody has removed"
	}
	return "which " + strings.Join(names, " and ") + " set and nobody has removed"
}

// removals are the commands that take finalizers off an object. Indices count down, so that
// each is right when its turn comes.
func removals(commands diagnosis.Commands, in logicalcluster.Path, resource string, object metav1.Object) []string {
	var steps []string
	finalizers := object.GetFinalizers()
	for i := len(finalizers) - 1; i >= 0; i-- {
		if slices.Contains(ours, finalizers[i]) {
			continue
		}
		args := []string{"patch", resource, object.GetName()}
		if namespace := object.GetNamespace(); namespace != "" {
			args = append(args, "-n", namespace)
		}
		args = append(args, "--type=json", "-p", diagnosis.RemoveEntry("/metadata/finalizers", i, finalizers[i]))
		steps = append(steps, diagnosis.Step(commands.Kubectl(in, args...), "skips what %s would have done", finalizers[i]))
	}
	return steps
}
