package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"time"
)

// profilerHeaderTimeout keeps half-sent requests from piling up.
const profilerHeaderTimeout = 10 * time.Second

// serveProfiles serves profiles, to everybody who gets there, at the address of the
// options until end is called. It returns when the address is taken hold of.
func (s *Server) serveProfiles(ctx context.Context) (end func(), err error) {
	address := s.options.Observability.ProfilerAddress
	if address == "" {
		return func() {}, nil
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fmt.Errorf("listening at --profiler-address: %w", err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	server := &http.Server{Handler: mux, ReadHeaderTimeout: profilerHeaderTimeout}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		// Nobody waits for what it says at the end.
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			_ = listener.Close()
		}
	}()
	return func() {
		_ = server.Close()
		<-ended
	}, nil
}
