package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Pages reads the Workspaces in parent, some at a time, in the order of the server, and
// gives them to each as they come. It returns the version that a watch goes on from.
func (c *Client) Pages(ctx context.Context, parent logicalcluster.Path, each func([]tenancyv1alpha1.Workspace) error) (version string, err error) {
	return c.pages(ctx, workspaces(parent), pageSize, each)
}

func (c *Client) pages(ctx context.Context, path []string, size int, each func([]tenancyv1alpha1.Workspace) error) (version string, err error) {
	params := map[string]string{"limit": strconv.Itoa(size)}
	for {
		var page tenancyv1alpha1.WorkspaceList
		if err := c.get(ctx, path, params, &page); err != nil {
			return "", err
		}
		if err := each(page.Items); err != nil {
			return "", err
		}
		version = page.ResourceVersion
		if page.Continue == "" {
			return version, nil
		}
		params["continue"] = page.Continue
	}
}

// Watched is a change that a watch tells about.
type Watched struct {
	// Type is Added, Modified, Deleted or Bookmark.
	Type watch.EventType
	// Workspace is what has changed. Of a bookmark it has the version only.
	Workspace tenancyv1alpha1.Workspace
}

// Watch tells each about the changes of the Workspaces in parent since version, until ctx
// is done, the server ends the watch, which is no error, or each returns an error. Before
// the first change, started is called, if it is not nil, when the server has let the
// watch in. A version that is too old is an error that apierrors.IsResourceExpired or
// IsGone tells.
func (c *Client) Watch(ctx context.Context, parent logicalcluster.Path, version string, started func(), each func(Watched) error) error {
	return c.watchAt(ctx, workspaces(parent), version, started, each)
}

func (c *Client) watchAt(ctx context.Context, path []string, version string, started func(), each func(Watched) error) error {
	stream, err := c.server.Get().AbsPath(path...).
		Param("watch", "true").
		Param("allowWatchBookmarks", "true").
		Param("resourceVersion", version).
		Stream(ctx)
	if err != nil {
		return err
	}
	defer stream.Close()
	if started != nil {
		started()
	}
	return readEvents(stream, each)
}

// readEvents decodes a stream of events to its end.
func readEvents(stream io.Reader, each func(Watched) error) error {
	decoder := json.NewDecoder(stream)
	for {
		var event struct {
			Type   watch.EventType `json:"type"`
			Object json.RawMessage `json:"object"`
		}
		switch err := decoder.Decode(&event); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("reading a watch: %w", err)
		}
		if event.Type == watch.Error {
			var status metav1.Status
			if err := json.Unmarshal(event.Object, &status); err != nil {
				return fmt.Errorf("reading the error of a watch: %w", err)
			}
			return &apierrors.StatusError{ErrStatus: status}
		}
		change := Watched{Type: event.Type}
		if err := json.Unmarshal(event.Object, &change.Workspace); err != nil {
			return fmt.Errorf("reading a watch: %w", err)
		}
		if err := each(change); err != nil {
			return err
		}
	}
}
