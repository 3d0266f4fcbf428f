package places

import (
	"bufio"
	"crypto/tls"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// backend is an API server elsewhere, as far as those can tell who are proxied to it. It says
// what reached it.
type backend struct {
	*httptest.Server
	// CA is a file with the certificate that it is trusted by.
	CA string
}

// seen is what reached a backend.
type seen struct {
	Method, URI, Body string
	Header            http.Header
	// Client is the name in the certificate of who called.
	Client string
}

func newBackend(t *testing.T) *backend {
	t.Helper()
	b := &backend{Server: httptest.NewUnstartedServer(http.HandlerFunc(serve)), CA: filepath.Join(t.TempDir(), "backend.crt")}
	b.EnableHTTP2 = true
	b.TLS = &tls.Config{ClientAuth: tls.RequestClientCert, MinVersion: tls.VersionTLS12}
	b.StartTLS()
	t.Cleanup(func() {
		b.CloseClientConnections()
		b.Close()
	})
	block := &pem.Block{Type: "CERTIFICATE", Bytes: b.Certificate().Raw}
	if err := os.WriteFile(b.CA, pem.EncodeToMemory(block), 0o600); err != nil {
		t.Fatal(err)
	}
	return b
}

func serve(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Header.Get("Upgrade") != "":
		echo(w)
	case r.URL.Query().Get("watch") != "":
		stream(w, r)
	case strings.HasSuffix(r.URL.Path, "/moved"):
		http.Redirect(w, r, "https://127.0.0.1:1/secret", http.StatusFound)
	case strings.HasSuffix(r.URL.Path, "/missing"):
		http.Error(w, "no such thing", http.StatusNotFound)
	default:
		report(w, r)
	}
}

func report(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	what := seen{Method: r.Method, URI: r.RequestURI, Body: string(body), Header: r.Header}
	if certificates := r.TLS.PeerCertificates; len(certificates) > 0 {
		what.Client = certificates[0].Subject.CommonName
	}
	_ = json.NewEncoder(w).Encode(what)
}

// stream sends one line, and no end until the client has had enough.
func stream(w http.ResponseWriter, r *http.Request) {
	_, _ = fmt.Fprintln(w, `{"type":"ADDED"}`)
	_ = http.NewResponseController(w).Flush()
	<-r.Context().Done()
}

// echo becomes another protocol, which sends back a line in capitals.
func echo(w http.ResponseWriter) {
	connection, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	defer func() { _ = connection.Close() }()
	_, _ = buffered.WriteString("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n")
	_ = buffered.Flush()
	line, err := bufio.NewReader(buffered).ReadString('\n')
	if err == nil {
		_, _ = io.WriteString(connection, strings.ToUpper(line))
	}
}

// reached returns what reached the backend that a caller has got an answer of.
func reached(t *testing.T, a answer) seen {
	t.Helper()
	var what seen
	if err := json.Unmarshal([]byte(a.must(t).body), &what); err != nil {
		t.Fatalf("%v: %s", err, a.body)
	}
	return what
}
