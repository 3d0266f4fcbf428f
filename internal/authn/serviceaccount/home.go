package serviceaccount

import (
	"net/http"
	"net/url"
	"strings"
)

const (
	clustersPrefix = "/clusters"
	servicesPrefix = "/services/"
	metricsPath    = "/metrics"

	// shardedHeader is set by whoever has found the place of a request already.
	shardedHeader = "X-Kubernetes-Sharded-Request"
)

// WithHome sends requests that name no cluster and carry the token of a service account
// to the cluster of the account: clients that know an address and a token only, as those
// in a pod do, need not know where they are. Nothing is verified here. Whoever sends a
// forged token ends where he could have gone by himself, and is refused there.
//
// /metrics is left as it is: it is about the process and is nowhere else.
func WithHome(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isPlaceless(r) {
			next.ServeHTTP(w, r)
			return
		}
		cluster, ok := ClaimedCluster(bearerToken(r))
		if !ok {
			next.ServeHTTP(w, r)
			return
		}
		at := clustersPrefix + "/" + cluster.String()
		inside := new(http.Request)
		*inside = *r
		inside.URL = new(url.URL)
		*inside.URL = *r.URL
		inside.URL.Path = at + r.URL.Path
		if r.URL.RawPath != "" {
			inside.URL.RawPath = at + r.URL.RawPath
		}
		inside.RequestURI = inside.URL.RequestURI()
		next.ServeHTTP(w, inside)
	})
}

// isPlaceless says whether a request may need a place.
func isPlaceless(r *http.Request) bool {
	path := r.URL.Path
	switch {
	case len(r.Header.Values(shardedHeader)) > 0:
		return false
	case strings.HasPrefix(path, clustersPrefix+"/"), strings.HasPrefix(path, servicesPrefix):
		return false
	default:
		return path != metricsPath && strings.HasPrefix(path, "/")
	}
}

// bearerToken returns the token in the header Authorization, as upstream's authenticator
// finds it; empty if there is none.
func bearerToken(r *http.Request) string {
	scheme, token, _ := strings.Cut(strings.TrimSpace(r.Header.Get("Authorization")), " ")
	if !strings.EqualFold(scheme, "bearer") {
		return ""
	}
	token, _, _ = strings.Cut(token, " ")
	return token
}
