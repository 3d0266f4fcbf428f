package crash

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// readers is how many objects are looked at at a time.
const readers = 8

// acknowledged compares what is there with what was acknowledged.
func (p *process) acknowledged(ctx context.Context, entries map[object]entry) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(readers)
	for o, e := range entries {
		group.Go(func() error {
			if err := p.compare(ctx, o, e); err != nil {
				return fmt.Errorf("%s: %w", o, err)
			}
			return nil
		})
	}
	return group.Wait()
}

func (p *process) compare(ctx context.Context, o object, e entry) error {
	obj, err := p.of(o).Get(ctx, o.name, metav1.GetOptions{})
	missing := apierrors.IsNotFound(err)
	switch {
	case err != nil && !missing:
		return err
	case e.gone && !missing && obj.GetDeletionTimestamp() == nil:
		return errors.New("its deletion was acknowledged, and it is there")
	case e.exists && missing:
		return fmt.Errorf("its creation was acknowledged, and it is not there: %w", err)
	case e.exists && obj.GetUID() != e.uid:
		return fmt.Errorf("it is another one: UID %s, was %s", obj.GetUID(), e.uid)
	case e.exists && o.resource == configMaps:
		return compareValue(obj, e)
	case e.exists && o.resource == definitions:
		return eventually(ctx, "using it", func() error { return p.established(ctx, o) })
	}
	return nil
}

func compareValue(obj *unstructured.Unstructured, e entry) error {
	text, _, _ := unstructured.NestedString(obj.Object, "data", "value")
	value, err := strconv.Atoi(text)
	if err != nil {
		return err
	}
	if value < e.acknowledged || value > e.tried {
		return fmt.Errorf("its value is %d, and %d was acknowledged, %d tried", value, e.acknowledged, e.tried)
	}
	return nil
}

// settled waits until every workspace below parent is ready and whole, or gone. It
// returns the names of their logical clusters.
func (p *process) settled(ctx context.Context, parent string) ([]string, error) {
	list, err := p.in(parent, workspaces).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	clusters := make([][]string, len(list.Items))
	group, ctx := errgroup.WithContext(ctx)
	if parent == "root" {
		group.SetLimit(readers)
	}
	for i, ws := range list.Items {
		group.Go(func() error {
			cluster := ""
			err := eventually(ctx, "waiting for "+parent+":"+ws.GetName(), func() (err error) {
				cluster, err = p.whole(ctx, parent, ws.GetName())
				return err
			})
			if err != nil || cluster == "" {
				return err
			}
			below, err := p.settled(ctx, parent+":"+ws.GetName())
			clusters[i] = append(below, cluster)
			return err
		})
	}
	err = group.Wait()
	var all []string
	for _, some := range clusters {
		all = append(all, some...)
	}
	return all, err
}

// whole says what a workspace lacks. It returns its logical cluster, or nothing if it
// is gone.
func (p *process) whole(ctx context.Context, parent, name string) (string, error) {
	ws, err := p.in(parent, workspaces).Get(ctx, name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", err
	}
	phase, _, _ := unstructured.NestedString(ws.Object, "status", "phase")
	if ws.GetDeletionTimestamp() != nil || phase != "Ready" {
		return "", fmt.Errorf("phase is %q, deleted at %v: %v", phase, ws.GetDeletionTimestamp(), ws.Object["status"])
	}
	path := parent + ":" + name
	lc, err := p.in(path, logicalClusters).Get(ctx, "cluster", metav1.GetOptions{})
	if err != nil {
		return "", err
	}
	owner, _, _ := unstructured.NestedString(lc.Object, "spec", "owner", "uid")
	phase, _, _ = unstructured.NestedString(lc.Object, "status", "phase")
	if owner != string(ws.GetUID()) || phase != "Ready" {
		return "", fmt.Errorf("its logical cluster is in phase %q and belongs to %q, not %q", phase, owner, ws.GetUID())
	}
	for _, part := range []object{
		{path, bindings, "", "workspace-admin"},
		{path, namespaces, "", "default"},
		{path, namespaces, "", "kube-system"},
	} {
		if _, err := p.of(part).Get(ctx, part.name, metav1.GetOptions{}); err != nil {
			return "", fmt.Errorf("looking for %s: %w", part, err)
		}
	}
	cluster, _, _ := unstructured.NestedString(ws.Object, "spec", "cluster")
	return cluster, nil
}
