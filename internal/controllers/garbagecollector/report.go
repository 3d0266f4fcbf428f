package garbagecollector

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/registry/rest"
	apistorage "k8s.io/apiserver/pkg/storage"
	"k8s.io/klog/v2"
	"k8s.io/kubernetes/pkg/apis/core"

	"github.com/forkless/kcp/internal/storage"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

const (
	// component is the source of our events, as upstream's collector calls itself.
	component = "garbage-collector-controller"
	// reasonNamespace is the reason of events about owners in another namespace.
	reasonNamespace = "OwnerRefInvalidNamespace"
)

// report writes the event that an object has an owner in another namespace. What cannot
// be written is only logged: nothing depends on it.
func (c *Collector) report(ctx context.Context, i item, ref metav1.OwnerReference) {
	if err := c.writeEvent(ctx, i.cluster, c.misplacedEvent(i, ref)); err != nil {
		klog.FromContext(ctx).V(2).Info("writing an event", "cluster", i.cluster, "object", i.name, "err", err)
	}
}

func (c *Collector) misplacedEvent(i item, ref metav1.OwnerReference) *core.Event {
	gvk := c.kindOf(i.cluster, i.resource)
	namespace := i.namespace
	if namespace == "" {
		namespace = metav1.NamespaceDefault
	}
	now := metav1.NewTime(c.config.Clock.Now())
	// One event for a dependent and an owner, however often they are looked at.
	sum := sha256.Sum256([]byte(i.uid.String() + "/" + string(ref.UID)))
	return &core.Event{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: i.name + "." + hex.EncodeToString(sum[:8])},
		InvolvedObject: core.ObjectReference{
			APIVersion: gvk.GroupVersion().String(),
			Kind:       gvk.Kind,
			Namespace:  i.namespace,
			Name:       i.name,
			UID:        i.uid.text(),
		},
		Type:   core.EventTypeWarning,
		Reason: reasonNamespace,
		Message: fmt.Sprintf("ownerRef [%s/%s, namespace: %s, name: %s, uid: %s] does not exist in namespace %q",
			ref.APIVersion, ref.Kind, i.namespace, ref.Name, ref.UID, i.namespace),
		Source:              core.EventSource{Component: component},
		ReportingController: component,
		FirstTimestamp:      now,
		LastTimestamp:       now,
		Count:               1,
	}
}

// writeEvent stores an event, unless it is there already or its namespace is going.
func (c *Collector) writeEvent(ctx context.Context, cluster logicalcluster.Name, event *core.Event) error {
	namespace, err := c.config.Namespaces.Get(ctx, cluster, event.Namespace)
	if err != nil || namespace.DeletionTimestamp != nil {
		return err
	}
	store, ok := c.config.Layer.Store(events)
	if !ok {
		return nil
	}
	rest.FillObjectMetaSystemFields(event)
	err = store.Create(logicalcluster.NewContext(ctx, cluster), events.Key(event.Namespace, event.Name), event, &core.Event{}, c.config.EventTTL)
	if apistorage.IsExist(err) {
		return nil
	}
	return err
}

// kindOf returns what the kind of a resource is called in a cluster.
func (c *Collector) kindOf(cluster logicalcluster.Name, resource storage.Resource) schema.GroupVersionKind {
	for _, kind := range c.config.Kinds.All(cluster) {
		if kind.Store == resource {
			return kind.Kind
		}
	}
	return schema.GroupVersionKind{}
}
