package servingcert

import (
	"bytes"
	"crypto"
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
	// lifetime of a certificate. Clients only trust it because they were told to, so a
	// short life would add work, not safety.
	lifetime = 365 * 24 * time.Hour
	// renewBefore is how long before it expires a certificate is replaced at a start.
	renewBefore = 30 * 24 * time.Hour
	// tolerance is how far clocks of clients may be behind.
	tolerance = time.Hour
)

// Pair is a certificate with its key, both PEM.
type Pair struct {
	// Certificate is the certificate, followed by that of the authority.
	Certificate []byte
	// Key is its private key.
	Key []byte
}

// New makes a pair for hosts, valid from now on.
func New(hosts Hosts, now time.Time) (Pair, error) {
	authorityKey, err := newKey()
	if err != nil {
		return Pair{}, err
	}
	authority := &x509.Certificate{
		Subject:               pkix.Name{CommonName: fmt.Sprintf("kcp-ca@%d", now.Unix())},
		NotBefore:             now.Add(-tolerance),
		NotAfter:              now.Add(lifetime),
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
		BasicConstraintsValid: true,
		IsCA:                  true,
		MaxPathLenZero:        true,
	}
	authorityDER, err := sign(authority, authority, authorityKey.Public(), authorityKey)
	if err != nil {
		return Pair{}, fmt.Errorf("making a certificate authority: %w", err)
	}
	// Parsed, because signing another certificate takes its subject key identifier.
	if authority, err = x509.ParseCertificate(authorityDER); err != nil {
		return Pair{}, fmt.Errorf("making a certificate authority: %w", err)
	}

	key, err := newKey()
	if err != nil {
		return Pair{}, err
	}
	leafDER, err := sign(&x509.Certificate{
		Subject:     pkix.Name{CommonName: fmt.Sprintf("kcp@%d", now.Unix())},
		NotBefore:   now.Add(-tolerance),
		NotAfter:    now.Add(lifetime),
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    hosts.Names,
		IPAddresses: hosts.Addresses,
	}, authority, key.Public(), authorityKey)
	if err != nil {
		return Pair{}, fmt.Errorf("making a serving certificate: %w", err)
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return Pair{}, fmt.Errorf("encoding the key of a serving certificate: %w", err)
	}
	return Pair{
		Certificate: append(encode("CERTIFICATE", leafDER), encode("CERTIFICATE", authorityDER)...),
		Key:         encode("PRIVATE KEY", keyDER),
	}, nil
}

func newKey() (*ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, fmt.Errorf("generating a key: %w", err)
	}
	return key, nil
}

// sign returns the certificate that template describes, with a random serial number.
func sign(template, parent *x509.Certificate, public crypto.PublicKey, signer crypto.Signer) ([]byte, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	template.SerialNumber = serial
	return x509.CreateCertificate(rand.Reader, template, parent, public, signer)
}

func encode(kind string, der []byte) []byte {
	var buffer bytes.Buffer
	// Writing to a buffer does not fail.
	_ = pem.Encode(&buffer, &pem.Block{Type: kind, Bytes: der})
	return buffer.Bytes()
}
