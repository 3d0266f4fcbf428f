package view

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/internal/catalog/structural"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// batch collects objects on their way out, so that those that have to be converted are
// converted together: a conversion may be a request to somebody's server.
type batch struct {
	form    *Form
	objects []*unstructured.Unstructured
	// pending are the objects to convert, copies that may be changed, and at their
	// place in objects.
	pending []*unstructured.Unstructured
	at      []int
}

// add adds an object as it is stored.
func (b *batch) add(stored runtime.Object, isOwned bool) error {
	u, isOwned, err := b.form.read(stored, isOwned)
	if err != nil {
		return err
	}
	if b.form.Convert == nil || b.form.keepsVersion(u, b.form.Kind.GroupVersion()) {
		if u, err = b.form.convert(u, b.form.Kind.GroupVersion(), isOwned); err != nil {
			return err
		}
		b.objects = append(b.objects, u)
		return nil
	}
	if !isOwned {
		u = u.DeepCopy()
	}
	b.pending, b.at = append(b.pending, u), append(b.at, len(b.objects))
	b.objects = append(b.objects, u)
	return nil
}

// out returns what has been added as callers see it.
func (b *batch) out() ([]*unstructured.Unstructured, error) {
	if len(b.pending) == 0 {
		return b.objects, nil
	}
	converted, err := b.form.call(b.pending, b.form.Kind.GroupVersion())
	if err != nil {
		return nil, err
	}
	for i, u := range converted {
		b.objects[b.at[i]] = u
	}
	return b.objects, nil
}

// convert returns u in another version, pruned by that version's schema.
func (f *Form) convert(u *unstructured.Unstructured, to schema.GroupVersion, isOwned bool) (*unstructured.Unstructured, error) {
	if f.keepsVersion(u, to) {
		return u, nil
	}
	if f.Convert == nil {
		return f.pruned(withAPIVersion(u, to), to, isOwned)
	}
	if !isOwned {
		u = u.DeepCopy()
	}
	converted, err := f.call([]*unstructured.Unstructured{u}, to)
	if err != nil {
		return nil, err
	}
	return converted[0], nil
}

func (f *Form) keepsVersion(u *unstructured.Unstructured, to schema.GroupVersion) bool {
	return f.AsStored || u.GetAPIVersion() == to.String()
}

// call has objects, which may be changed, converted, and prunes and defaults what comes
// back. Errors
// are returned as they are: they are Kubernetes' words for what the converter did.
func (f *Form) call(objects []*unstructured.Unstructured, to schema.GroupVersion) ([]*unstructured.Unstructured, error) {
	// Taken before, since objects may be changed.
	clusters := make([]string, len(objects))
	for i, u := range objects {
		clusters[i] = u.GetAnnotations()[logicalcluster.AnnotationKey]
	}
	converted, err := f.Convert(objects, to)
	if err != nil {
		return nil, err
	}
	if len(converted) != len(clusters) {
		return nil, fmt.Errorf("conversion to %s returned %d objects for %d", to, len(converted), len(clusters))
	}
	for i, u := range converted {
		keepCluster(u, clusters[i])
		if converted[i], err = f.pruned(u, to, true); err != nil {
			return nil, err
		}
		if !f.Asks && f.Schemas != nil {
			// Upstream takes the answer of a server as it is.
			f.Schemas.Default(converted[i])
		}
	}
	return converted, nil
}

// keepCluster gives u the cluster it had before it was converted. Converters may change
// annotations, but which workspace an object is in is not theirs to say.
func keepCluster(u *unstructured.Unstructured, cluster string) {
	annotations := u.GetAnnotations()
	if annotations[logicalcluster.AnnotationKey] == cluster {
		return
	}
	if cluster == "" {
		delete(annotations, logicalcluster.AnnotationKey)
	} else {
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[logicalcluster.AnnotationKey] = cluster
	}
	u.SetAnnotations(annotations)
}

// pruned returns u, which is in the version to, without what the schema of that does
// not know.
func (f *Form) pruned(u *unstructured.Unstructured, to schema.GroupVersion, isOwned bool) (*unstructured.Unstructured, error) {
	if f.Schemas == nil || f.Schemas.Coerced(to.Version, u.Object) {
		return u, nil
	}
	if !isOwned {
		u = u.DeepCopy()
	}
	if _, err := f.Schemas.Coerce(u, structural.Options{}); err != nil {
		return nil, fmt.Errorf("converting to %s: %w", to, err)
	}
	return u, nil
}

// withAPIVersion returns an object that differs from u in its version alone. All but
// the top level is shared.
func withAPIVersion(u *unstructured.Unstructured, to schema.GroupVersion) *unstructured.Unstructured {
	content := make(map[string]any, len(u.Object))
	for key, value := range u.Object {
		content[key] = value
	}
	content["apiVersion"] = to.String()
	return &unstructured.Unstructured{Object: content}
}
