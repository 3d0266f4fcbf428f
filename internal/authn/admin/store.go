package admin

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"k8s.io/client-go/tools/clientcmd"
)

// shardAdminToken returns the token of earlier starts, or a new one on the first.
func shardAdminToken(files Files) (string, error) {
	hash, err := os.ReadFile(files.TokenHash)
	if errors.Is(err, fs.ErrNotExist) {
		return newToken(), nil
	}
	if err != nil {
		return "", fmt.Errorf("reading the hash of the %s token: %w", ShardAdminUser, err)
	}
	token, err := storedToken(files.Kubeconfig)
	if err != nil {
		return "", fmt.Errorf("the token of %s is lost: %w; remove %s to have a new one made",
			ShardAdminUser, err, files.TokenHash)
	}
	if sum := sha256.Sum256([]byte(token)); !bytes.Equal(sum[:], hash) {
		return "", fmt.Errorf("the token of %s in %s does not fit the hash in %s; remove %s to have a new one made",
			ShardAdminUser, files.Kubeconfig, files.TokenHash, files.TokenHash)
	}
	return token, nil
}

// storedToken returns the shard-admin token in the kubeconfig at path.
func storedToken(path string) (string, error) {
	config, err := clientcmd.LoadFromFile(path)
	if err != nil {
		return "", fmt.Errorf("reading kubeconfig: %w", err)
	}
	entry, ok := config.AuthInfos[ShardAdminUser]
	if !ok || entry.Token == "" {
		return "", fmt.Errorf("kubeconfig %s has no token for it", path)
	}
	return entry.Token, nil
}

// writeFile puts content at path, readable by its owner only. Who reads path sees
// what was there before or all of content, also after a crash.
func writeFile(path string, content []byte) (err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	// The mode of temporary files is 0600.
	temporary, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = temporary.Close()
			_ = os.Remove(temporary.Name())
		}
	}()
	if _, err := temporary.Write(content); err != nil {
		return err
	}
	if err := temporary.Sync(); err != nil {
		return err
	}
	if err := temporary.Close(); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), path)
}
