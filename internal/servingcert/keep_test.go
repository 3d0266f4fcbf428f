package servingcert

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"net"
	"os"
	"testing"
	"time"

	"github.com/forkless/kcp/internal/authority"
)

var anywhere = net.IPv4zero

func keep(t *testing.T, directory string, now time.Time, hosts ...string) Pair {
	t.Helper()
	pair, err := Keep(directory, HostsOf(anywhere, hosts...), Required(anywhere, hosts...), now)
	if err != nil {
		t.Fatal(err)
	}
	return pair
}

func TestKeep(t *testing.T) {
	now := time.Now()
	for name, tc := range map[string]struct {
		reason    string
		meanwhile func(t *testing.T, directory string)
		later     time.Duration
		hosts     []string
		kept      bool
	}{
		"Restart": {
			reason: "clients that trust the certificate go on doing so",
			kept:   true,
		},
		"HalfAYearLater": {
			reason: "a valid certificate is kept",
			later:  authority.Lifetime / 2,
			kept:   true,
		},
		"NearlyExpired": {
			reason: "a certificate must not expire under a running server soon after its start",
			later:  authority.Lifetime - renewBefore + time.Minute,
		},
		"ClockSetBack": {
			reason: "a certificate that is not valid yet is of no use",
			later:  -2 * authority.Tolerance,
		},
		"AnotherHost": {
			reason: "a certificate is no good for a host it does not name",
			hosts:  []string{"kcp.example.com"},
		},
		"KeyLost": {
			reason: "a certificate without its key cannot be served",
			meanwhile: func(t *testing.T, directory string) {
				_, key := Files(directory)
				if err := os.Remove(key); err != nil {
					t.Fatal(err)
				}
			},
		},
		"ForeignKey": {
			reason: "a crash between writing key and certificate leaves a pair that does not match",
			meanwhile: func(t *testing.T, directory string) {
				other, err := New(HostsOf(anywhere), now)
				if err != nil {
					t.Fatal(err)
				}
				_, key := Files(directory)
				if err := os.WriteFile(key, other.Key, 0o600); err != nil {
					t.Fatal(err)
				}
			},
		},
		"Garbage": {
			reason: "what is no certificate is replaced",
			meanwhile: func(t *testing.T, directory string) {
				certificate, _ := Files(directory)
				if err := os.WriteFile(certificate, []byte("no certificate"), 0o600); err != nil {
					t.Fatal(err)
				}
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			directory := t.TempDir()
			first := keep(t, directory, now)
			if tc.meanwhile != nil {
				tc.meanwhile(t, directory)
			}
			second := keep(t, directory, now.Add(tc.later), tc.hosts...)
			if kept := bytes.Equal(first.Certificate, second.Certificate); kept != tc.kept {
				t.Errorf("%s: kept = %t, want %t", tc.reason, kept, tc.kept)
			}
			if !second.covers(Required(anywhere, tc.hosts...), now.Add(tc.later)) {
				t.Errorf("%s: what was returned is no good", tc.reason)
			}
			third := keep(t, directory, now.Add(tc.later), tc.hosts...)
			if !bytes.Equal(second.Certificate, third.Certificate) {
				t.Errorf("%s: the certificate that was returned is not the one in the directory", tc.reason)
			}
		})
	}
}

func TestModes(t *testing.T) {
	directory := t.TempDir()
	keep(t, directory, time.Now())
	_, key := Files(directory)
	info, err := os.Stat(key)
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); mode != 0o600 {
		t.Errorf("the key has mode %v", mode)
	}
}

func TestVerifies(t *testing.T) {
	pair, err := New(HostsOf(anywhere, "kcp.example.com", "192.0.2.7"), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	served, err := tls.X509KeyPair(pair.Certificate, pair.Key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(served.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	trusted := x509.NewCertPool()
	if !trusted.AppendCertsFromPEM(pair.Certificate) {
		t.Fatal("the certificate file holds no certificates")
	}
	for _, host := range []string{"localhost", "127.0.0.1", "::1", "kcp.example.com", "192.0.2.7", "kubernetes.default.svc"} {
		if _, err := leaf.Verify(x509.VerifyOptions{DNSName: host, Roots: trusted}); err != nil {
			t.Errorf("%s: %v", host, err)
		}
	}
	if leaf.VerifyHostname("example.com") == nil {
		t.Error("the certificate is for a host nobody named")
	}
}

func TestHostsOfOneAddress(t *testing.T) {
	hosts := HostsOf(net.IPv4(192, 0, 2, 7))
	for _, ip := range hosts.Addresses {
		if !ip.IsLoopback() && !ip.Equal(net.IPv4(192, 0, 2, 7)) {
			t.Errorf("a server that listens on one address is known by %s, too", ip)
		}
	}
}

func BenchmarkNew(b *testing.B) {
	hosts := HostsOf(anywhere)
	for b.Loop() {
		if _, err := New(hosts, time.Now()); err != nil {
			b.Fatal(err)
		}
	}
}
