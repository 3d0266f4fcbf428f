package options

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	"k8s.io/component-base/compatibility"
)

// RequestOptions are about how requests are served.
type RequestOptions struct {
	// CORSAllowedOrigins are patterns of the origins whose scripts may call.
	CORSAllowedOrigins []string
	// HSTSDirectives go into the Strict-Transport-Security header.
	HSTSDirectives []string
	// GoawayChance is the share of HTTP/2 requests after which the client is asked to
	// connect again.
	GoawayChance float64
	// Timeout is how long a request may take that is no watch.
	Timeout time.Duration
	// EventTTL is how long events are kept.
	EventTTL time.Duration
}

func newRequestOptions() RequestOptions {
	return RequestOptions{Timeout: time.Minute, EventTTL: time.Hour}
}

// AddFlags adds the flags of the group to fs.
func (o *RequestOptions) AddFlags(fs *pflag.FlagSet) {
	fs.StringSliceVar(&o.CORSAllowedOrigins, "cors-allowed-origins", o.CORSAllowedOrigins,
		"Origins whose scripts may call the server: regular expressions that pin start and end of the host, as in //example\\.com(:|$).")
	fs.StringSliceVar(&o.HSTSDirectives, "strict-transport-security-directives", o.HSTSDirectives,
		"Directives of the Strict-Transport-Security header, such as max-age=31536000. Empty leaves the header out.")
	fs.Float64Var(&o.GoawayChance, "goaway-chance", o.GoawayChance,
		"Share of HTTP/2 requests, from 0 to 0.02, after which a client is asked to connect again. Spreads clients over servers.")
	fs.DurationVar(&o.Timeout, "request-timeout", o.Timeout,
		"How long a request may take, unless it asks for less. Watches are exempt.")
	fs.DurationVar(&o.EventTTL, "event-ttl", o.EventTTL, "How long events are kept.")
}

// Validate says what is wrong with the options.
func (o *RequestOptions) Validate() []error {
	// These checks are upstream's, which come with options we do not have.
	all := (&genericoptions.ServerRunOptions{
		CorsAllowedOriginList:    o.CORSAllowedOrigins,
		HSTSDirectives:           o.HSTSDirectives,
		GoawayChance:             o.GoawayChance,
		ComponentGlobalsRegistry: compatibility.NewComponentGlobalsRegistry(),
	}).Validate()
	if o.Timeout <= 0 {
		all = append(all, fmt.Errorf("--request-timeout=%s is not positive", o.Timeout))
	}
	if o.EventTTL <= 0 {
		all = append(all, fmt.Errorf("--event-ttl=%s is not positive", o.EventTTL))
	}
	return all
}
