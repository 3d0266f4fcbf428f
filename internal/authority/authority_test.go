package authority

import (
	"crypto/tls"
	"crypto/x509"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestIssueClient(t *testing.T) {
	now := time.Now()
	a, err := New("test", now)
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := New("test", now)
	if err != nil {
		t.Fatal(err)
	}
	pair, err := a.IssueClient("ada", []string{"engineers"}, now)
	if err != nil {
		t.Fatal(err)
	}
	read, err := tls.X509KeyPair(pair.Certificate, pair.Key)
	if err != nil {
		t.Fatalf("certificate and key do not belong together: %v", err)
	}
	if diff := cmp.Diff([]string{"engineers"}, read.Leaf.Subject.Organization); diff != "" || read.Leaf.Subject.CommonName != "ada" {
		t.Errorf("it is for %s (-want +got)\n%s", read.Leaf.Subject, diff)
	}
	for name, tc := range map[string]struct {
		reason string
		by     *Authority
		at     time.Time
		usage  x509.ExtKeyUsage
		valid  bool
	}{
		"Now":      {"it was made for that", a, now, x509.ExtKeyUsageClientAuth, true},
		"Behind":   {"clocks differ", a, now.Add(-Tolerance / 2), x509.ExtKeyUsageClientAuth, true},
		"Later":    {"it does not last for ever", a, now.Add(Lifetime + time.Hour), x509.ExtKeyUsageClientAuth, false},
		"Server":   {"a client is no server", a, now, x509.ExtKeyUsageServerAuth, false},
		"Stranger": {"another authority of that name has not signed it", stranger, now, x509.ExtKeyUsageClientAuth, false},
	} {
		trusted := x509.NewCertPool()
		if !trusted.AppendCertsFromPEM(tc.by.Certificate()) {
			t.Fatal("the certificate of the authority cannot be read")
		}
		_, err := read.Leaf.Verify(x509.VerifyOptions{Roots: trusted, CurrentTime: tc.at, KeyUsages: []x509.ExtKeyUsage{tc.usage}})
		if tc.valid != (err == nil) {
			t.Errorf("%s: %s: %v", name, tc.reason, err)
		}
	}
}
