package storage

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
	"go.etcd.io/etcd/server/v3/storage/backend"
	"go.etcd.io/etcd/server/v3/storage/schema"
	"go.etcd.io/etcd/server/v3/storage/wal"
	"go.etcd.io/etcd/server/v3/storage/wal/walpb"
	"go.uber.org/zap"
)

// discardUnborn removes from the directory of an etcd a log in which nothing has come to
// pass, which is what a process leaves that is killed while it starts for the first time.
// etcd takes such a log for that of a cluster that is there, but has no members who could
// elect a leader, and waits for one for ever. Without it the first start is repeated.
func discardUnborn(directory string, logger *zap.Logger) error {
	member := filepath.Join(directory, "member")
	log := filepath.Join(member, "wal")
	segments, err := fileutil.ReadDir(log, fileutil.WithExt(".wal"))
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(segments) != 1 {
		return nil
	}
	if err != nil {
		return err
	}
	committed, err := hasCommitted(filepath.Join(log, segments[0]))
	if err != nil || committed {
		// What cannot be read is for etcd to mend or to refuse.
		return nil //nolint:nilerr // because etcd says more about it
	}
	if db := filepath.Join(member, "snap", "db"); fileutil.Exist(db) && hasApplied(db, logger) {
		// This is no new etcd but one that has lost its log.
		return nil
	}
	if err := os.RemoveAll(log); err != nil {
		return fmt.Errorf("removing the log of a start that was interrupted: %w", err)
	}
	return nil
}

// hasCommitted says whether a segment of a log has anything in it that was committed. The
// first thing that is comes at the beginning.
func hasCommitted(segment string) (bool, error) {
	file, err := os.Open(segment)
	if err != nil {
		return false, err
	}
	defer func() { _ = file.Close() }()
	records := wal.NewDecoder(fileutil.NewFileReader(file))
	for {
		record := &walpb.Record{}
		if err := records.Decode(record); errors.Is(err, io.EOF) {
			return false, nil
		} else if err != nil {
			return false, err
		}
		switch record.Type {
		case wal.CrcType:
			records.UpdateCRC(record.Crc)
		case wal.StateType:
			if state := wal.MustUnmarshalState(record.Data); state.Commit > 0 {
				return true, nil
			}
		}
	}
}

// hasApplied says whether a database has anything in it that came from a log.
func hasApplied(path string, logger *zap.Logger) bool {
	config := backend.DefaultBackendConfig(logger)
	config.Path = path
	db := backend.New(config)
	defer func() { _ = db.Close() }()
	schema.CreateMetaBucket(db.BatchTx())
	index, _ := schema.ReadConsistentIndex(db.ReadTx())
	return index > 0
}
