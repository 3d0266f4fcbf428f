package serviceaccount

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"k8s.io/client-go/util/keyutil"
	"k8s.io/kubernetes/pkg/serviceaccount"
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

// PrivateKey returns the private key in the PEM file at path.
func PrivateKey(path string) (any, error) {
	key, err := keyutil.PrivateKeyFromFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading a key of service account tokens: %w", err)
	}
	return key, nil
}

// VerifyingKeys returns what verifies tokens: the own private keys, which the server signs
// with, and all keys in files, private or public.
func VerifyingKeys(files []string, own ...any) (serviceaccount.PublicKeysGetter, error) {
	var keys []any
	add := func(key any) {
		if private, ok := key.(interface{ Public() crypto.PublicKey }); ok {
			key = private.Public()
		}
		if !slices.ContainsFunc(keys, func(other any) bool { return equal(key, other) }) {
			keys = append(keys, key)
		}
	}
	for _, key := range own {
		add(key)
	}
	for _, file := range files {
		found, err := keyutil.PublicKeysFromFile(file)
		if err != nil {
			return nil, fmt.Errorf("reading keys that verify service account tokens: %w", err)
		}
		for _, key := range found {
			add(key)
		}
	}
	return serviceaccount.StaticPublicKeysGetter(keys)
}

// equal says whether two public keys are the same. A key may be in several files.
func equal(a, b any) bool {
	key, ok := a.(interface{ Equal(crypto.PublicKey) bool })
	return ok && key.Equal(b)
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
