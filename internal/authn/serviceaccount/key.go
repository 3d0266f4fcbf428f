package serviceaccount

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"k8s.io/client-go/util/keyutil"
)

// KeepKey returns the private key in a PEM file, as a pointer to an RSA or ECDSA key. If
// there is no such file, a new ECDSA key is made and put there. An empty path makes a key
// that lives as long as the process.
func KeepKey(path string) (any, error) {
	if path != "" {
		key, err := keyutil.PrivateKeyFromFile(path)
		if err == nil || !errors.Is(err, fs.ErrNotExist) {
			return key, err
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil || path == "" {
		return key, err
	}
	pem, err := keyutil.MarshalPrivateKeyToPEM(key)
	if err != nil {
		return nil, err
	}
	return key, write(path, pem)
}

// write puts a file in place as a whole: a crash leaves no half of a key.
func write(path string, data []byte) error {
	file, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("writing the key of service accounts: %w", err)
	}
	_, err = file.Write(data)
	err = errors.Join(err, file.Sync(), file.Close())
	if err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		_ = os.Remove(file.Name())
		return fmt.Errorf("writing the key of service accounts: %w", err)
	}
	return nil
}
