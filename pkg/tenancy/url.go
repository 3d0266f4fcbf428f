package tenancy

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// ClusterURL returns the address of a logical cluster by its name, on a shard whose
// external URL is given.
func ClusterURL(externalURL string, cluster logicalcluster.Name) (string, error) {
	return below(externalURL, cluster.String())
}

// WorkspaceURL returns the address of a workspace by its canonical path.
func WorkspaceURL(externalURL string, path logicalcluster.Path) (string, error) {
	return below(externalURL, path.String())
}

// below keeps what path the external URL has: the server may be behind a proxy that
// puts it below one.
func below(externalURL, target string) (string, error) {
	parsed, err := url.Parse(externalURL)
	if err != nil {
		return "", fmt.Errorf("the external URL of the shard: %w", err)
	}
	if parsed.Scheme == "" || parsed.Host == "" {
		return "", errors.New("the external URL of the shard has no scheme or no host")
	}
	return strings.TrimRight(externalURL, "/") + "/clusters/" + target, nil
}
