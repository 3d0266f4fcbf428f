package main

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
)

// access is what workspaces have to a service outside.
type access struct {
	service string
	client  *http.Client
}

// revoke ends the access of a workspace. Where there is none that is well, too: it may have
// been revoked before.
func (a access) revoke(ctx context.Context, cluster string) error {
	address, err := url.JoinPath(a.service, cluster)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodDelete, address, http.NoBody)
	if err != nil {
		return err
	}
	response, err := a.client.Do(request)
	if err != nil {
		return fmt.Errorf("revoking the access of %s: %w", cluster, err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode/100 != 2 && response.StatusCode != http.StatusNotFound {
		return fmt.Errorf("revoking the access of %s: %s", cluster, response.Status)
	}
	return nil
}
