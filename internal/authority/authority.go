// Package authority makes certificates: an authority in memory signs those that servers show,
// and those that clients are known by.
//
// Nobody has the key of an authority but the process, so that it can sign nothing any more
// when that forgets it. Keys are ECDSA P-256, which takes well below a millisecond to make;
// RSA keys would cost the start of a server seconds.
package authority

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"time"
)

const (
	// Lifetime is that of certificates. Clients only trust them because they were told to, so a
	// short life would add work, not safety.
	Lifetime = 365 * 24 * time.Hour
	// Tolerance is how far clocks of others may be behind.
	Tolerance = time.Hour
)

// Authority signs certificates. It may be used by several goroutines.
type Authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

// Pair is a certificate with its private key, both PEM.
type Pair struct {
	Certificate, Key []byte
}

// New makes an authority of that name, which is valid from now on.
func New(name string, now time.Time) (*Authority, error) {
	key, err := newKey()
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: name},
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		BasicConstraintsValid: true,
		IsCA:                  true,
		MaxPathLenZero:        true,
	}
	der, err := (&Authority{certificate: template, key: key}).sign(template, key, now)
	if err != nil {
		return nil, fmt.Errorf("making a certificate authority: %w", err)
	}
	// Parsed, because signing another certificate takes its subject key identifier.
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("making a certificate authority: %w", err)
	}
	return &Authority{certificate: certificate, key: key}, nil
}

// Certificate returns the certificate of the authority, PEM: what others trust its
// certificates by.
func (a *Authority) Certificate() []byte { return encode("CERTIFICATE", a.certificate.Raw) }

// Issue returns a certificate, valid from now on, with a new key. What it is for is what
// template says; serial number and validity are up to the authority.
func (a *Authority) Issue(template x509.Certificate, now time.Time) (Pair, error) {
	key, err := newKey()
	if err != nil {
		return Pair{}, err
	}
	template.KeyUsage = x509.KeyUsageDigitalSignature
	der, err := a.sign(&template, key, now)
	if err != nil {
		return Pair{}, fmt.Errorf("making a certificate: %w", err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return Pair{}, fmt.Errorf("encoding the key of a certificate: %w", err)
	}
	return Pair{Certificate: encode("CERTIFICATE", der), Key: encode("PRIVATE KEY", keyDER)}, nil
}

// IssueClient issues what a server knows a client by that trusts the authority: as a user of
// that name, in groups.
func (a *Authority) IssueClient(name string, groups []string, now time.Time) (Pair, error) {
	return a.Issue(x509.Certificate{
		Subject:     pkix.Name{CommonName: name, Organization: groups},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, now)
}

// sign returns the certificate of a key that template describes, with a random serial number.
func (a *Authority) sign(template *x509.Certificate, key *ecdsa.PrivateKey, now time.Time) ([]byte, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	template.SerialNumber = serial
	template.NotBefore, template.NotAfter = now.Add(-Tolerance), now.Add(Lifetime)
	return x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
}

func newKey() (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("generating a key: %w", err)
	}
	return key, nil
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}
