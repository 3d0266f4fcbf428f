package archive

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"

	"go.etcd.io/etcd/api/v3/mvccpb"
	"go.etcd.io/etcd/server/v3/storage/schema"

	"github.com/forkless/kcp/internal/archive/pages"
)

// sound says what keeps etcd from beginning with the database in a file, which would end the
// process: etcd has no other way to say so.
func sound(path string) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return err
	}
	versioned, stored := false, mvccpb.KeyValue{}
	err = pages.Check(file, info.Size(), func(bucket string, key, value []byte) error {
		switch bucket {
		case string(schema.Meta.Name()):
			versioned = versioned || bytes.Equal(key, schema.MetaStorageVersionName)
		case string(schema.Key.Name()):
			if !isRevision(key) {
				return fmt.Errorf("%x is no revision", key)
			}
			return stored.Unmarshal(value)
		}
		return nil
	})
	if err == nil && !versioned {
		return errors.New("it does not say of which version it is")
	}
	return err
}

// isRevision says whether a key is what etcd stores a value by: two numbers that are not
// negative with a mark between them, and perhaps another mark at the end.
func isRevision(key []byte) bool {
	const between, length = 8, 17
	return (len(key) == length || len(key) == length+1) && key[between] == '_' &&
		binary.BigEndian.Uint64(key) <= math.MaxInt64 && binary.BigEndian.Uint64(key[between+1:]) <= math.MaxInt64
}
