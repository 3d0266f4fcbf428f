//go:build linux

package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

const (
	jsonType       = "application/json"
	mergePatchType = "application/merge-patch+json"
)

// client sends requests over one connection, with a token.
type client struct {
	url, token string
	roots      *x509.CertPool
	http1      bool
	transport  *http.Transport
}

func newClient(url, token string, ca []byte, http1 bool) (*client, error) {
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(ca) {
		return nil, errors.New("the kubeconfig has no CA certificate")
	}
	return &client{url: url, token: token, roots: roots, http1: http1, transport: newTransport(roots, false, http1)}, nil
}

// another returns a client with a connection of its own.
func (c *client) another() *client {
	other := *c
	other.transport = newTransport(c.roots, false, c.http1)
	return &other
}

func newTransport(roots *x509.CertPool, insecure, http1 bool) *http.Transport {
	transport := &http.Transport{
		TLSClientConfig:    &tls.Config{RootCAs: roots, InsecureSkipVerify: insecure}, //nolint:gosec // because readiness is asked for before there is a certificate to trust
		ForceAttemptHTTP2:  !http1,
		DisableCompression: true,
	}
	if http1 {
		transport.TLSClientConfig.NextProtos = []string{"http/1.1"}
	}
	return transport
}

// do sends a request and returns the body of its answer. Answers that are not 2xx are
// errors.
func (c *client) do(ctx context.Context, method, path, contentType string, body []byte) ([]byte, error) {
	response, err := c.send(ctx, method, path, contentType, body)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		return nil, fmt.Errorf("%s %s: %s: %s", method, path, response.Status, bytes.TrimSpace(data))
	}
	return data, nil
}

func (c *client) send(ctx context.Context, method, path, contentType string, body []byte) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, c.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+c.token)
	request.Header.Set("Accept", jsonType)
	if contentType != "" {
		request.Header.Set("Content-Type", contentType)
	}
	return c.transport.RoundTrip(request)
}

// watch calls each with every event of a watch, as JSON, until ctx ends. It returns
// when the server has accepted the watch.
func (c *client) watch(ctx context.Context, path string, each func(event []byte)) error {
	_, err := c.watchOnce(ctx, path, each)
	return err
}

// watchAgain is watch, but that a watch that ends is followed by another one, which begins
// with all that exists: the server ends those that lag behind.
func (c *client) watchAgain(ctx context.Context, path string, each func(event []byte)) error {
	ended, err := c.watchOnce(ctx, path, each)
	if err != nil {
		return err
	}
	go func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-ended:
			}
			if ended, err = c.watchOnce(ctx, path, each); err != nil {
				// Who waits for an event says that it did not come.
				return
			}
		}
	}()
	return nil
}

// watchOnce is watch; ended is closed when the server has ended it.
func (c *client) watchOnce(ctx context.Context, path string, each func(event []byte)) (ended <-chan struct{}, err error) {
	separator := "?"
	if strings.Contains(path, "?") {
		separator = "&"
	}
	response, err := c.send(ctx, http.MethodGet, path+separator+"watch=true", "", nil)
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		_ = response.Body.Close()
		return nil, fmt.Errorf("watching %s: %s", path, response.Status)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer response.Body.Close()
		const largest = 4 << 20
		events := bufio.NewScanner(response.Body)
		events.Buffer(make([]byte, 64<<10), largest)
		for events.Scan() {
			each(events.Bytes())
		}
	}()
	return done, nil
}
