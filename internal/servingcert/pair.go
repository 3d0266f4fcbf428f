package servingcert

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"fmt"
	"time"

	"github.com/forkless/kcp/internal/authority"
)

// renewBefore is how long before it expires a certificate is replaced at a start.
const renewBefore = 30 * 24 * time.Hour

// Pair is a certificate with its key, both PEM.
type Pair struct {
	// Certificate is the certificate, followed by that of the authority.
	Certificate []byte
	// Key is its private key.
	Key []byte
}

// New makes a pair for hosts, valid from now on.
func New(hosts Hosts, now time.Time) (Pair, error) {
	signer, err := authority.New(fmt.Sprintf("kcp-ca@%d", now.Unix()), now)
	if err != nil {
		return Pair{}, err
	}
	serving, err := signer.Issue(x509.Certificate{
		Subject:     pkix.Name{CommonName: fmt.Sprintf("kcp@%d", now.Unix())},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    hosts.Names,
		IPAddresses: hosts.Addresses,
	}, now)
	if err != nil {
		return Pair{}, err
	}
	return Pair{Certificate: append(serving.Certificate, signer.Certificate()...), Key: serving.Key}, nil
}
