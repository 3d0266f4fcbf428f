package storage

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.etcd.io/etcd/client/pkg/v3/transport"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.uber.org/zap"
)

const (
	externalDialTimeout      = 20 * time.Second
	externalKeepAlive        = 30 * time.Second
	externalKeepAliveTimeout = 10 * time.Second
)

// ExternalOptions say how to reach an etcd outside this process.
type ExternalOptions struct {
	Settings
	// Servers are the URLs of the members, at least one.
	Servers []string
	// Exclusive says that this process is the only one that writes to it. Consistent lists
	// then wait for the last write to their own resource only.
	Exclusive bool
	// CAFile, CertFile and KeyFile secure the connection; each may be empty.
	CAFile, CertFile, KeyFile string
}

// Dial opens a Layer on an external etcd. It returns when etcd has answered once,
// or with an error when ctx ends before.
func Dial(ctx context.Context, options ExternalOptions) (*Layer, error) {
	if len(options.Servers) == 0 {
		return nil, errors.New("no etcd servers given")
	}
	config := clientv3.Config{
		Endpoints:            options.Servers,
		DialTimeout:          externalDialTimeout,
		DialKeepAliveTime:    externalKeepAlive,
		DialKeepAliveTimeout: externalKeepAliveTimeout,
		Logger:               zap.NewNop(),
	}
	if options.CAFile != "" || options.CertFile != "" || options.KeyFile != "" {
		tls := transport.TLSInfo{TrustedCAFile: options.CAFile, CertFile: options.CertFile, KeyFile: options.KeyFile}
		tlsConfig, err := tls.ClientConfig()
		if err != nil {
			return nil, fmt.Errorf("reading the etcd client certificates: %w", err)
		}
		config.TLS = tlsConfig
	}
	client, err := clientv3.New(config)
	if err != nil {
		return nil, fmt.Errorf("connecting to etcd at %v: %w", options.Servers, err)
	}
	layer := newLayer(client, &options.Settings, options.Exclusive, func() { _ = client.Close() })
	ctx, cancel := context.WithTimeout(ctx, externalDialTimeout)
	defer cancel()
	if err := layer.Healthy(ctx); err != nil {
		layer.Close()
		return nil, fmt.Errorf("connecting to etcd at %v: %w", options.Servers, err)
	}
	return layer, nil
}
