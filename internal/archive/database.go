package archive

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	etcdversion "go.etcd.io/etcd/api/v3/version"
	"go.etcd.io/etcd/pkg/v3/traceutil"
	"go.etcd.io/etcd/server/v3/lease"
	"go.etcd.io/etcd/server/v3/storage/backend"
	"go.etcd.io/etcd/server/v3/storage/mvcc"
	"go.etcd.io/etcd/server/v3/storage/schema"
	"go.etcd.io/etcd/server/v3/storage/wal"
	"go.etcd.io/etcd/server/v3/storage/wal/walpb"
	"go.uber.org/zap"
	utilversion "k8s.io/apimachinery/pkg/util/version"

	"github.com/forkless/kcp/internal/fileerror"
	"github.com/forkless/kcp/internal/storage"
)

// settleTimeout bounds how long etcd may take to apply what is in its log.
const settleTimeout = time.Minute

// compactionBatch is how many revisions are looked at before the compaction pauses, for
// the sake of others. There are none.
const compactionBatch = 1 << 20

// storageVersion is the version of the databases that are written.
var storageVersion = etcdversion.V3_6

// newerStorage says whether databases of a version cannot be read.
func newerStorage(version string) bool {
	v, err := utilversion.ParseGeneric(version)
	return err == nil && v.GreaterThan(utilversion.MustParseGeneric(storageVersion.String()))
}

// export makes a copy of the database in directory at path: compacted, without what
// belongs to the member of the cluster, and without free pages.
func export(directory, path string) error {
	applied, err := copyDatabase(directory, path)
	if err != nil {
		return err
	}
	logged, err := lastLogged(directory)
	if err != nil {
		return err
	}
	if logged > applied {
		// The server was killed: what it had promised is in the log alone.
		if err := settle(directory); err != nil {
			return err
		}
		if _, err := copyDatabase(directory, path); err != nil {
			return err
		}
	}
	return refine(path)
}

// copyDatabase copies the database as it is, and returns the index of the last entry of
// the log that it contains.
func copyDatabase(directory, path string) (applied uint64, err error) {
	from, err := os.Open(filepath.Join(directory, memberDirectory, databaseFile))
	if err != nil {
		return 0, err
	}
	defer func() { _ = from.Close() }()
	to, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, fileMode)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(to, from)
	if err := errors.Join(err, to.Close()); err != nil {
		return 0, fmt.Errorf("copying the database: %w", fileerror.Cause(err))
	}
	b := open(path)
	applied, _ = schema.ReadConsistentIndex(b.ReadTx())
	return applied, b.Close()
}

// open opens a database that nobody needs should this process end.
func open(path string) backend.Backend {
	config := backend.DefaultBackendConfig(zap.NewNop())
	config.Path = path
	config.UnsafeNoFsync = true
	return backend.New(config)
}

// lastLogged returns the index of the last entry in the log.
func lastLogged(directory string) (uint64, error) {
	nop, path := zap.NewNop(), filepath.Join(directory, memberDirectory, logDirectory)
	var from walpb.Snapshot
	snapshots, err := wal.ValidSnapshotEntries(nop, path)
	if err != nil {
		return 0, fmt.Errorf("reading the log of the database: %w", err)
	}
	if len(snapshots) > 0 {
		from = snapshots[len(snapshots)-1]
	}
	log, err := wal.OpenForRead(nop, path, from)
	if err != nil {
		return 0, fmt.Errorf("reading the log of the database: %w", err)
	}
	defer func() { _ = log.Close() }()
	_, _, entries, err := log.ReadAll()
	if err != nil {
		return 0, fmt.Errorf("reading the log of the database: %w", err)
	}
	if len(entries) == 0 {
		return from.Index, nil
	}
	return entries[len(entries)-1].Index, nil
}

// settle has etcd apply what is in its log, as it does at a start.
func settle(directory string) error {
	ctx, cancel := context.WithTimeout(context.Background(), settleTimeout)
	defer cancel()
	layer, err := storage.StartEmbedded(ctx, storage.EmbeddedOptions{
		Settings:  storage.Settings{CompactionInterval: storage.NoCompaction},
		Directory: directory,
	})
	if err != nil {
		return err
	}
	layer.Close()
	return nil
}

// refine makes a database what a new cluster can begin with.
func refine(path string) error {
	b := open(path)
	err := compact(b)
	if err == nil {
		err = detach(b)
	}
	if err == nil {
		b.ForceCommit()
		err = b.Defrag()
	}
	if err := errors.Join(err, b.Close()); err != nil {
		return fmt.Errorf("refining the database: %w", err)
	}
	return nil
}

// compact drops the history. Nobody reads it: the watch caches of a server begin with what
// there is at its start.
func compact(b backend.Backend) error {
	store := mvcc.NewStore(zap.NewNop(), b, &lease.FakeLessor{}, mvcc.StoreConfig{
		CompactionBatchLimit:    compactionBatch,
		CompactionSleepInterval: time.Nanosecond,
	})
	defer func() { _ = store.Close() }()
	done, err := store.Compact(traceutil.TODO(), store.Rev())
	if errors.Is(err, mvcc.ErrCompacted) {
		return nil
	}
	if err != nil {
		return err
	}
	<-done
	return nil
}

// detach takes out of a database what it has in common with the log and the members of
// its cluster. A cluster that begins with it counts the entries of its log from one.
func detach(b backend.Backend) error {
	tx := b.BatchTx()
	if err := schema.Migrate(zap.NewNop(), tx, nil, storageVersion); err != nil {
		return err
	}
	tx.LockOutsideApply()
	defer tx.Unlock()
	for _, key := range [][]byte{schema.MetaConsistentIndexKeyName, schema.MetaTermKeyName, schema.MetaConfStateName} {
		tx.UnsafeDelete(schema.Meta, key)
	}
	for _, bucket := range []backend.Bucket{schema.Members, schema.MembersRemoved, schema.Cluster, schema.Alarm} {
		tx.UnsafeCreateBucket(bucket)
		tx.UnsafeDeleteBucket(bucket)
		tx.UnsafeCreateBucket(bucket)
	}
	return nil
}
