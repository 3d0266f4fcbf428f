package client

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	corev1alpha1 "github.com/forkless/kcp/pkg/apis/core/v1alpha1"
	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// The pauses before a watch that has ended is begun again, or between two looks of
// somebody who may not watch.
const (
	firstPause = 50 * time.Millisecond
	lastPause  = 5 * time.Second
	pollPause  = 500 * time.Millisecond
)

// FollowWorkspace calls see with the Workspace called name in parent as it is now and
// after each change, nil while there is none, until see is done or ctx ends.
func (c *Client) FollowWorkspace(ctx context.Context, parent logicalcluster.Path, name string, see func(*tenancyv1alpha1.Workspace) (done bool, err error)) error {
	return follow(ctx, c, workspaces(parent), name, see)
}

// FollowLogicalCluster does the same for what the workspace p says about itself.
func (c *Client) FollowLogicalCluster(ctx context.Context, p logicalcluster.Path, see func(*corev1alpha1.LogicalCluster) (done bool, err error)) error {
	return follow(ctx, c, at(p, "apis", coreGroup, coreVersion, "logicalclusters"), logicalClusterName, see)
}

// errEnded says that a watch has ended, as they do from time to time.
var errEnded = errors.New("the watch has ended")

// errDone says that whoever looked has seen enough.
var errDone = errors.New("done")

// follow lists and watches one object of the collection at path. An error before the
// first answer is returned, later ones are waited out: a server that was there comes back.
func follow[T any](ctx context.Context, c *Client, path []string, name string, see func(*T) (bool, error)) error {
	f := &follower[T]{client: c, path: path, name: name, see: see}
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		err := f.once(ctx)
		switch {
		case errors.Is(err, errDone):
			return nil
		case f.failed != nil:
			return f.failed
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case apierrors.IsForbidden(err), apierrors.IsMethodNotSupported(err):
			return f.poll(ctx)
		case !f.answered, apierrors.IsUnauthorized(err):
			return err
		case errors.Is(err, errEnded):
			pause = firstPause
		}
		if err := pauseFor(ctx, pause); err != nil {
			return err
		}
	}
}

// pauseFor waits for a while.
func pauseFor(ctx context.Context, pause time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(pause):
		return nil
	}
}

// follower follows one object.
type follower[T any] struct {
	client *Client
	path   []string
	name   string
	see    func(*T) (bool, error)

	// answered says that the server has answered once.
	answered bool
	// failed is what see has returned.
	failed error
}

// once lists the object and watches it until the watch ends.
func (f *follower[T]) once(ctx context.Context) error {
	var page struct {
		metav1.ListMeta `json:"metadata"`
		Items           []json.RawMessage `json:"items"`
	}
	params := map[string]string{"fieldSelector": "metadata.name=" + f.name}
	err := f.client.get(ctx, f.path, params, &page)
	if f.answered && isWorkspaceMissing(err) {
		// The workspace that it was in is gone, and it with it.
		return cmp.Or(f.show(nil), err)
	}
	if err != nil {
		return err
	}
	f.answered = true
	object, err := f.find(page.Items)
	if err != nil {
		return err
	}
	if err := f.show(object); err != nil {
		return err
	}
	return f.watch(ctx, page.ResourceVersion)
}

// find returns the object among what a list has returned, nil if it is not there.
func (f *follower[T]) find(items []json.RawMessage) (*T, error) {
	for _, item := range items {
		if object, err := f.decode(item); object != nil || err != nil {
			return object, err
		}
	}
	return nil, nil
}

// decode returns the object, nil if it is another one: what cannot select by name sends
// everything.
func (f *follower[T]) decode(encoded json.RawMessage) (*T, error) {
	var named metav1.PartialObjectMetadata
	if err := json.Unmarshal(encoded, &named); err != nil {
		return nil, fmt.Errorf("the server's answer is not the JSON of a Kubernetes API: %w", err)
	}
	if named.Name != f.name {
		return nil, nil
	}
	object := new(T)
	return object, json.Unmarshal(encoded, object)
}

// show tells see, and returns errDone or the error if that is all.
func (f *follower[T]) show(object *T) error {
	done, err := f.see(object)
	switch {
	case err != nil:
		f.failed = err
		return err
	case done:
		return errDone
	default:
		return nil
	}
}

// watch shows the changes since version.
func (f *follower[T]) watch(ctx context.Context, version string) error {
	stream, err := f.client.server.Get().AbsPath(f.path...).
		Param("watch", "true").Param("allowWatchBookmarks", "true").
		Param("fieldSelector", "metadata.name="+f.name).Param("resourceVersion", version).
		Stream(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = stream.Close() }()
	return f.read(json.NewDecoder(stream))
}

func (f *follower[T]) read(events *json.Decoder) error {
	for {
		var event struct {
			Type   string          `json:"type"`
			Object json.RawMessage `json:"object"`
		}
		if err := events.Decode(&event); errors.Is(err, io.EOF) {
			return errEnded
		} else if err != nil {
			return err
		}
		switch event.Type {
		case "ADDED", "MODIFIED", "DELETED":
		case "BOOKMARK":
			continue
		default:
			// What is too old to be watched from is listed again.
			return errEnded
		}
		object, err := f.decode(event.Object)
		switch {
		case err != nil:
			return err
		case object == nil:
			continue
		case event.Type == "DELETED":
			object = nil
		}
		if err := f.show(object); err != nil {
			return err
		}
	}
}

// poll is for those who may get the object, but not watch it.
func (f *follower[T]) poll(ctx context.Context) error {
	for {
		object := new(T)
		err := f.client.get(ctx, append(f.path[:len(f.path):len(f.path)], f.name), nil, object)
		switch {
		case apierrors.IsNotFound(err):
			object = nil
		case err != nil:
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			return err
		}
		switch err := f.show(object); {
		case errors.Is(err, errDone):
			return nil
		case err != nil:
			return err
		}
		if err := pauseFor(ctx, pollPause); err != nil {
			return err
		}
	}
}
