package kcptest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"
)

// certificateLifetime is longer than any test.
const certificateLifetime = 365 * 24 * time.Hour

// authority says who users are. There is one in a process, whose key nobody else has.
type authority struct {
	certificate    *x509.Certificate
	certificatePEM []byte
	key            *ecdsa.PrivateKey
}

var newAuthority = sync.OnceValues(func() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: "kcptest"},
		KeyUsage:              x509.KeyUsageCertSign,
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	der, err := sign(template, template, key, key)
	if err != nil {
		return nil, fmt.Errorf("making an authority for users: %w", err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, fmt.Errorf("making an authority for users: %w", err)
	}
	return &authority{certificate: certificate, certificatePEM: encode("CERTIFICATE", der), key: key}, nil
})

// issue returns a certificate for a user with its key, both PEM.
func (a *authority) issue(name string, groups []string) (certificate, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	der, err := sign(&x509.Certificate{
		Subject:     pkix.Name{CommonName: name, Organization: groups},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, a.certificate, private, a.key)
	if err != nil {
		return nil, nil, err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, nil, err
	}
	return encode("CERTIFICATE", der), encode("PRIVATE KEY", keyDER), nil
}

func sign(template, parent *x509.Certificate, key, signer *ecdsa.PrivateKey) ([]byte, error) {
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, err
	}
	template.SerialNumber = serial
	template.NotBefore = time.Now().Add(-time.Hour)
	template.NotAfter = time.Now().Add(certificateLifetime)
	return x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
}

func encode(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// User returns the configuration of an ordinary user, who is authenticated by a client
// certificate, directed at no workspace. Users need not be made before, and may do what
// the policies of a workspace let them: nothing, in a new one.
func (c *ControlPlane) User(t testing.TB, name string, groups ...string) *rest.Config {
	t.Helper()
	config, err := c.UserConfig(name, groups...)
	if err != nil {
		t.Fatal(err)
	}
	return config
}

// UserConfig is User for those who are no test.
func (c *ControlPlane) UserConfig(name string, groups ...string) (*rest.Config, error) {
	certificate, key, err := c.users.issue(name, groups)
	if err != nil {
		return nil, fmt.Errorf("making a certificate for user %s: %w", name, err)
	}
	config := rest.AnonymousClientConfig(c.admin)
	config.CertData, config.KeyData, config.QPS = certificate, key, -1
	return config, nil
}

// User returns the configuration of an ordinary user, directed at the workspace; see
// ControlPlane.User.
func (w *Workspace) User(t testing.TB, name string, groups ...string) *rest.Config {
	t.Helper()
	config := w.controlPlane.User(t, name, groups...)
	config.Host = w.URL()
	return config
}
