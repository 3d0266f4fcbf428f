package servingcert

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// Files of a pair.
const (
	certificateFile = "apiserver.crt"
	keyFile         = "apiserver.key"
)

// Files returns where the pair of a directory lies.
func Files(directory string) (certificate, key string) {
	return filepath.Join(directory, certificateFile), filepath.Join(directory, keyFile)
}

// Keep returns the pair in directory if it covers the required hosts, and otherwise
// makes one for hosts and puts it there.
func Keep(directory string, hosts, required Hosts, now time.Time) (Pair, error) {
	certificatePath, keyPath := Files(directory)
	pair, err := read(certificatePath, keyPath)
	if err != nil {
		return Pair{}, err
	}
	if pair.covers(required, now) {
		return pair, nil
	}
	if pair, err = New(hosts, now); err != nil {
		return Pair{}, err
	}
	if err := os.MkdirAll(directory, 0o700); err != nil {
		return Pair{}, fmt.Errorf("making the directory of the serving certificate: %w", err)
	}
	// A crash between the two leaves a key that does not belong to the certificate,
	// which the next start notices and mends.
	if err := replace(keyPath, pair.Key, 0o600); err != nil {
		return Pair{}, fmt.Errorf("writing the key of the serving certificate: %w", err)
	}
	if err := replace(certificatePath, pair.Certificate, 0o644); err != nil {
		return Pair{}, fmt.Errorf("writing the serving certificate: %w", err)
	}
	return pair, nil
}

// read returns the pair in the files, empty parts if there are none.
func read(certificatePath, keyPath string) (Pair, error) {
	certificate, err := os.ReadFile(certificatePath)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Pair{}, fmt.Errorf("reading the serving certificate: %w", err)
	}
	key, err := os.ReadFile(keyPath)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Pair{}, fmt.Errorf("reading the key of the serving certificate: %w", err)
	}
	return Pair{Certificate: certificate, Key: key}, nil
}

// covers says whether the pair belongs together, is valid for some time to come, and
// is for all the hosts.
func (p Pair) covers(hosts Hosts, now time.Time) bool {
	pair, err := tls.X509KeyPair(p.Certificate, p.Key)
	if err != nil {
		return false
	}
	leaf, err := x509.ParseCertificate(pair.Certificate[0])
	if err != nil || now.Before(leaf.NotBefore) || now.Add(renewBefore).After(leaf.NotAfter) {
		return false
	}
	for _, host := range hosts.all() {
		if leaf.VerifyHostname(host) != nil {
			return false
		}
	}
	return true
}

// replace writes a file so that readers find either the old content or the new one.
func replace(path string, content []byte, mode fs.FileMode) error {
	next := path + ".new"
	if err := os.WriteFile(next, content, mode); err != nil {
		return err
	}
	return os.Rename(next, path)
}
