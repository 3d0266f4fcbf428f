package mounted

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strconv"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	"k8s.io/klog/v2"

	"github.com/forkless/kcp/internal/route"
	"github.com/forkless/kcp/internal/tenancy/mount"
)

const (
	// depthHeader counts the mounted workspaces that a request has come through, so that
	// servers that mount each other notice.
	depthHeader = "X-Kcp-Mount-Depth"
	// maxDepth is how many those may be.
	maxDepth = 4

	dialTimeout     = 10 * time.Second
	idleTimeout     = 30 * time.Second
	idlePerHost     = 16
	responseTimeout = time.Minute
)

// Config is what a Proxy works with.
type Config struct {
	// Policy says which addresses may be followed.
	Policy *mount.Policy
	// CAs are trusted to vouch for mounted servers; nil stands for those of the system.
	CAs *x509.CertPool
	// Certificate, if not nil, vouches for who callers are. It is shown to mounted servers
	// only.
	Certificate *tls.Certificate
	// Serializer encodes errors.
	Serializer runtime.NegotiatedSerializer
}

// Proxy serves requests to mounted workspaces. It is safe for concurrent use.
type Proxy struct {
	config Config
	// forward is what talks to mounted servers.
	forward *httputil.ReverseProxy
}

// New returns a Proxy.
func New(config Config) *Proxy {
	p := &Proxy{config: config}
	p.forward = &httputil.ReverseProxy{
		Rewrite:      p.rewrite,
		Transport:    newTransport(config),
		ErrorHandler: p.unreachable,
		ErrorLog:     klog.NewStandardLogger("INFO"),
	}
	return p
}

// transport speaks HTTP/2 where it can, but for requests that become something else on the
// way, which only HTTP/1.1 lets them do.
type transport struct{ any, upgrades *http.Transport }

func newTransport(config Config) transport {
	base := &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: dialTimeout, KeepAlive: idleTimeout}).DialContext,
		TLSHandshakeTimeout:   dialTimeout,
		ResponseHeaderTimeout: responseTimeout,
		IdleConnTimeout:       idleTimeout,
		MaxIdleConnsPerHost:   idlePerHost,
		ForceAttemptHTTP2:     true,
		// What clients accept is between them and what is mounted.
		DisableCompression: true,
		TLSClientConfig:    &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: config.CAs},
	}
	if config.Certificate != nil {
		base.TLSClientConfig.Certificates = []tls.Certificate{*config.Certificate}
	}
	upgrades := base.Clone()
	upgrades.ForceAttemptHTTP2 = false
	upgrades.TLSClientConfig.NextProtos = []string{"http/1.1"}
	return transport{any: base, upgrades: upgrades}
}

// RoundTrip implements http.RoundTripper.
func (t transport) RoundTrip(r *http.Request) (*http.Response, error) {
	if isUpgrade(r) {
		return t.upgrades.RoundTrip(r)
	}
	return t.any.RoundTrip(r)
}

func isUpgrade(r *http.Request) bool { return r.Header.Get("Upgrade") != "" }

// departure is what is remembered of a request to another server until it goes there.
type departure struct {
	to *mount.Address
	// credentials are the headers by which the caller says who he is, which authentication
	// takes away. They are kept only where they are to go on.
	credentials http.Header
	depth       int
}

type (
	departureKey struct{}
	depthKey     struct{}
)

// Route is where routing sends requests to mounted workspaces. Those to this server are
// routed again, by again; the others go on with next, which has to lead to WithMounts.
func (p *Proxy) Route(again, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		found, ok := route.MountFrom(r.Context())
		if !ok {
			p.refuse(w, r, apierrors.NewInternalError(errors.New("the request is to no mounted workspace")))
			return
		}
		depth := depthOf(r)
		if depth >= maxDepth {
			http.Error(w, "Mounted workspaces lead in a circle.", http.StatusLoopDetected)
			return
		}
		if mount.HasDots(r.URL.Path) {
			p.refuse(w, r, apierrors.NewBadRequest("the path leads out of what is mounted"))
			return
		}
		// The Workspace may have been written to since somebody has checked its address.
		to, err := p.config.Policy.Check(found.URL)
		switch {
		case err != nil:
			route.NotAvailable(w)
		case to.Local:
			again.ServeHTTP(w, reroute(r, to, depth+1))
		default:
			d := &departure{to: to, depth: depth + 1}
			if p.config.Certificate == nil {
				d.credentials = credentialsOf(r.Header)
			}
			audit.AddAuditAnnotation(r.Context(), "tenancy.kcp.io/mounted-workspace", found.Path.String())
			next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), departureKey{}, d)))
		}
	})
}

// reroute returns r as a request to another place on this server.
func reroute(r *http.Request, to *mount.Address, depth int) *http.Request {
	ctx := context.WithValue(route.NewMountContext(r.Context(), nil), depthKey{}, depth)
	inner := r.WithContext(ctx)
	inner.URL = onto(to.LocalPath, r.URL)
	inner.RequestURI = inner.URL.RequestURI()
	return inner
}

// onto returns u with its path below base, which needs no escapes.
func onto(base string, u *url.URL) *url.URL {
	joined := *u
	joined.Path = base + u.Path
	if u.RawPath != "" {
		joined.RawPath = base + u.RawPath
	}
	return &joined
}

// depthOf returns how many mounted workspaces r has come through, here or elsewhere.
func depthOf(r *http.Request) int {
	here, _ := r.Context().Value(depthKey{}).(int)
	elsewhere, err := strconv.Atoi(r.Header.Get(depthHeader))
	if err != nil || elsewhere < 0 {
		return here
	}
	return here + elsewhere
}

// WithMounts serves requests that Route has let out with p, and all others with next. It comes
// behind authentication and before impersonation, which the mounted server decides about.
// bounded puts a bound on what goes out at a time.
func (p *Proxy) WithMounts(next http.Handler, bounded func(http.Handler) http.Handler) http.Handler {
	out := bounded(http.HandlerFunc(p.serve))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, ok := r.Context().Value(departureKey{}).(*departure); ok {
			out.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// serve hands a request on. Where the response is cut short because the workspace is gone, or
// what it shows, it ends as a watch does that has run for long enough.
func (p *Proxy) serve(w http.ResponseWriter, r *http.Request) {
	defer func() {
		reason := recover()
		if reason != nil && (reason != http.ErrAbortHandler || !errors.Is(r.Context().Err(), context.Canceled)) { //nolint:errorlint // because a panic is not an error
			panic(reason)
		}
	}()
	p.forward.ServeHTTP(w, r)
}

// rewrite makes the request that goes out. Headers about the connection are gone already.
func (p *Proxy) rewrite(r *httputil.ProxyRequest) {
	d, ok := r.In.Context().Value(departureKey{}).(*departure)
	if !ok {
		// Without a host it fails.
		r.Out.URL.Host = ""
		return
	}
	r.Out.URL = onto(d.to.URL.Path, r.In.URL)
	r.Out.URL.Scheme, r.Out.URL.Host = d.to.URL.Scheme, d.to.URL.Host
	r.Out.Host = ""
	r.SetXForwarded()
	dropIdentity(r.Out.Header)
	r.Out.Header.Set(depthHeader, strconv.Itoa(d.depth))
	if p.config.Certificate == nil {
		for name, values := range d.credentials {
			r.Out.Header[name] = values
		}
		return
	}
	vouch(r.Out.Header, r.In)
}

// unreachable answers requests that did not get through. Why is in the log only: it is about
// a network that callers need not know.
func (p *Proxy) unreachable(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return
	}
	found, _ := route.MountFrom(r.Context())
	klog.FromContext(r.Context()).Info("A mounted workspace cannot be reached", "path", found.Path.String(), "url", found.URL, "err", err)
	p.refuse(w, r, apierrors.NewServiceUnavailable(fmt.Sprintf("what is mounted at %s cannot be reached", found.Path)))
}

func (p *Proxy) refuse(w http.ResponseWriter, r *http.Request, err error) {
	responsewriters.ErrorNegotiated(err, p.config.Serializer, schema.GroupVersion{Version: "v1"}, w, r)
}

// longRunning are the subresources of Kubernetes that stay open.
var longRunning = map[string]bool{"attach": true, "exec": true, "proxy": true, "log": true, "portforward": true}

// IsLongRunning says whether a request to a mounted workspace may stay open: mounted servers
// have resources that this one has not.
func IsLongRunning(r *http.Request, subresource string) bool {
	if _, ok := route.MountFrom(r.Context()); !ok {
		return false
	}
	return isUpgrade(r) || longRunning[strings.ToLower(subresource)]
}
