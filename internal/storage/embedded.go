package storage

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"sync"
	"time"

	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/storage/datadir"
	"go.etcd.io/etcd/server/v3/storage/wal"
)

const (
	// A single member elects itself: short ticks only shorten the start.
	embeddedTick     = 10
	embeddedElection = 100

	// Raft keeps this many entries in memory beyond its last snapshot. There are no
	// followers that could need them, so few are kept.
	embeddedSnapshotCount  = 5000
	embeddedCatchUpEntries = 16

	// embeddedMaxTxnOperations bounds a batch; see Layer.Commit.
	embeddedMaxTxnOperations = 1024

	// embeddedQuota is how large the database may grow, in bytes, where the options
	// leave it open.
	embeddedQuota = 8 << 30

	// progressInterval is how often etcd tells idle watches where it is. It bounds
	// how far the resource version of a quiet watch cache lags behind.
	progressInterval = 5 * time.Second

	embeddedStartTimeout = time.Minute

	// volatileWALSize is the size of a segment of the write-ahead log where nobody needs
	// the data after a crash. A segment is allocated as a whole, in memory perhaps.
	volatileWALSize = 1 << 20
)

// volatileSegments sets that size, which holds for the whole process, before several
// servers in it could read it.
var volatileSegments sync.Once

// EmbeddedOptions say where and how the embedded etcd keeps its data.
type EmbeddedOptions struct {
	Settings
	// Directory holds the data. It is created if need be; one process may use it.
	Directory string
	// WALSizeBytes is the size of a segment of the write-ahead log; etcd's default
	// if 0.
	WALSizeBytes int64
	// QuotaBackendBytes is how large the database may grow; 8 GiB if 0.
	QuotaBackendBytes int64
	// ForceNewCluster starts a new single-member cluster from existing data.
	ForceNewCluster bool
	// Volatile says that nobody needs the data after a crash: nothing is synchronized.
	Volatile bool
	// ClientURL makes etcd listen for clients, for tests and tools. Without it no
	// socket is opened.
	ClientURL *url.URL
}

// StartEmbedded starts an etcd in this process and opens a Layer on it that needs
// no socket. It returns when etcd serves.
func StartEmbedded(ctx context.Context, options EmbeddedOptions) (*Layer, error) {
	last := newFatal(options.Directory)
	config, err := embeddedConfig(options, last)
	if err != nil {
		return nil, err
	}
	replays := wal.Exist(datadir.ToWALDir(options.Directory))
	server, err := startEtcd(config, last)
	if err != nil {
		return nil, fmt.Errorf("starting embedded etcd in %s: %w", options.Directory, err)
	}
	closeServer := func() {
		server.Close()
		<-server.Server.StopNotify()
	}
	if !replays {
		electing, elected := context.WithCancel(ctx)
		defer elected()
		go elect(electing, server.Server)
	}
	timeout := time.NewTimer(embeddedStartTimeout)
	defer timeout.Stop()
	select {
	case <-server.Server.ReadyNotify():
		last.start()
	case err := <-last.failed:
		// Nothing of it can be relied on to come to an end.
		return nil, fmt.Errorf("starting embedded etcd in %s: %w", options.Directory, err)
	case err := <-server.Err():
		closeServer()
		return nil, fmt.Errorf("starting embedded etcd in %s: %w", options.Directory, err)
	case <-ctx.Done():
		closeServer()
		return nil, ctx.Err()
	case <-timeout.C:
		closeServer()
		return nil, fmt.Errorf("embedded etcd in %s is not ready after %s", options.Directory, embeddedStartTimeout)
	}

	client := newEmbeddedClient(server.Server)
	return newLayer(client.Client, &options.Settings, true, func() {
		client.close()
		closeServer()
	}), nil
}

// startEtcd starts etcd, in a goroutine of its own because that does not return when etcd
// gives up.
func startEtcd(config *embed.Config, last *fatal) (*embed.Etcd, error) {
	type result struct {
		server *embed.Etcd
		err    error
	}
	started := make(chan result, 1)
	go func() {
		err := discardUnborn(config.Dir, last.logger())
		var server *embed.Etcd
		if err == nil {
			server, err = embed.StartEtcd(config)
		}
		started <- result{server, err}
	}()
	select {
	case r := <-started:
		return r.server, r.err
	case err := <-last.failed:
		return nil, err
	}
}

func embeddedConfig(options EmbeddedOptions, last *fatal) (*embed.Config, error) {
	if options.Directory == "" {
		return nil, errors.New("the embedded etcd needs a directory")
	}
	if err := os.MkdirAll(options.Directory, 0o700); err != nil {
		return nil, fmt.Errorf("creating the directory of the embedded etcd: %w", err)
	}
	// etcd has no other setting for it.
	switch {
	case options.WALSizeBytes > 0:
		wal.SegmentSizeBytes = options.WALSizeBytes
	case options.Volatile:
		volatileSegments.Do(func() { wal.SegmentSizeBytes = volatileWALSize })
	}

	config := embed.NewConfig()
	config.Name = "kcp"
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	config.Dir = options.Directory
	config.TickMs = embeddedTick
	config.ElectionMs = embeddedElection
	config.SnapshotCount = embeddedSnapshotCount
	config.SnapshotCatchUpEntries = embeddedCatchUpEntries
	config.MaxTxnOps = embeddedMaxTxnOperations
	config.QuotaBackendBytes = embeddedQuota
	if options.QuotaBackendBytes > 0 {
		config.QuotaBackendBytes = options.QuotaBackendBytes
	}
	config.WatchProgressNotifyInterval = progressInterval
	config.ForceNewCluster = options.ForceNewCluster
	config.UnsafeNoFsync = options.Volatile
	config.StrictReconfigCheck = false
	config.ListenPeerUrls = nil
	config.ListenClientUrls = nil
	if options.ClientURL != nil {
		config.ListenClientUrls = []url.URL{*options.ClientURL}
		config.AdvertiseClientUrls = []url.URL{*options.ClientURL}
	}
	// An existing write-ahead log may lie elsewhere in older layouts; keep etcd's own.
	config.WalDir = ""
	config.ZapLoggerBuilder = embed.NewZapLoggerBuilder(last.logger())
	return config, nil
}
