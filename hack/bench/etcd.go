//go:build linux

package main

import (
	"context"
	"fmt"
	"net/url"
	"path/filepath"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"

	"github.com/forkless/kcp/internal/storage"
)

const etcdTimeout = time.Minute

// storedKeys returns how many keys there are in the etcd of a server that is stopped.
func storedKeys(ctx context.Context, root string) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, etcdTimeout)
	defer cancel()
	port, err := freePort(ctx)
	if err != nil {
		return 0, err
	}
	address := url.URL{Scheme: "http", Host: "127.0.0.1:" + port}
	etcd, err := storage.StartEmbedded(ctx, storage.EmbeddedOptions{Directory: filepath.Join(root, "etcd-server"), ClientURL: &address})
	if err != nil {
		return 0, fmt.Errorf("starting etcd: %w", err)
	}
	defer etcd.Close()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{address.String()}, Logger: zap.NewNop()})
	if err != nil {
		return 0, err
	}
	defer client.Close() //nolint:errcheck // because it was only read from
	response, err := client.Get(ctx, "", clientv3.WithPrefix(), clientv3.WithCountOnly())
	if err != nil {
		return 0, fmt.Errorf("counting keys: %w", err)
	}
	return int(response.Count), nil
}
