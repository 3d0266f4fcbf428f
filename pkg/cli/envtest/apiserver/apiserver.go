// Package apiserver is the program kube-apiserver, as envtest starts it: flags are those of
// Kubernetes, and the server is a single cluster, served without a prefix.
//
//  1. Every flag of kube-apiserver is understood. Those about something that this server
//     has do what they do there; others are accepted and change nothing. Any other flag
//     is an error, in the words of Kubernetes.
//  2. Nothing is written but to etcd, and to the directory of certificates if it has none.
//  3. The program ends, in order, when it is told to by a signal, or with the test that
//     started it (package orphan).
package apiserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	logsapi "k8s.io/component-base/logs/api/v1"
	"k8s.io/klog/v2"

	"github.com/forkless/kcp/internal/features"
	"github.com/forkless/kcp/internal/launch"
	"github.com/forkless/kcp/internal/memory"
	"github.com/forkless/kcp/internal/version"
	"github.com/forkless/kcp/pkg/cli/envtest/orphan"
	"github.com/forkless/kcp/pkg/cli/kcp/start"
	"github.com/forkless/kcp/pkg/cli/run"
	"github.com/forkless/kcp/pkg/server/options"
)

// Name is the name of the program.
const Name = "kube-apiserver"

// Options are what can be asked of the program.
type Options struct {
	// Server are the options of the server.
	Server *options.Options

	streams   run.Streams
	newServer start.NewServer
	// unheeded are the values of flags that change nothing.
	unheeded  unheeded
	authorize []string
	admission plugins
}

// New returns the command. newServer makes the server it runs.
func New(streams run.Streams, newServer start.NewServer) *cobra.Command {
	o := &Options{Server: options.NewOptions(), streams: streams, newServer: newServer}
	o.Server.Single = true
	o.Server.RootDirectory = ""
	o.Server.Homes.Enabled = false
	o.Server.Batteries.Included = []string{string(options.WorkloadTypesBattery)}
	o.Server.Etcd.StorageConfig.Transport.ServerList = nil
	cmd := &cobra.Command{
		Use:     Name,
		Short:   "A Kubernetes API server for tests",
		Version: "Kubernetes v" + version.Get().Kubernetes,
		Long: "A Kubernetes API server for tests, in place of that of Kubernetes. Flags of that one that make\n" +
			"no difference here are accepted.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return o.Run(cmd.Context()) },
	}
	o.addFlags(cmd.Flags())
	return cmd
}

// addFlags adds the flags of kube-apiserver, and no others.
func (o *Options) addFlags(fs *pflag.FlagSet) {
	all := pflag.NewFlagSet(Name, pflag.ContinueOnError)
	o.Server.AddFlags(all)
	fs.StringSliceVar(&o.authorize, "authorization-mode", []string{modeAlwaysAllow},
		"Who decides what callers may do: AlwaysAllow, AlwaysDeny, RBAC, Node.")
	o.admission.addFlags(fs)
	for name, kind := range flags {
		switch ours := all.Lookup(name); {
		case fs.Lookup(name) != nil:
		case ours != nil:
			fs.AddFlag(ours)
		default:
			o.unheeded.add(fs, name, kind)
		}
	}
}

// Run runs the server until ctx ends. Being told to stop is not an error.
func (o *Options) Run(ctx context.Context) (err error) {
	memory.KeepDense()
	if err := o.complete(); err != nil {
		return err
	}
	completed, err := o.Server.Complete()
	if err != nil {
		return err
	}
	if err := logsapi.ValidateAndApply(completed.Logging.Configuration, features.Gates()); err != nil {
		return fmt.Errorf("setting up the log: %w", err)
	}
	defer klog.Flush()
	ctx, end := orphan.Watch(ctx, o.Server.Serving.ServerCert.CertDirectory, 0)
	defer func() { err = errors.Join(err, end()) }()
	claim, err := launch.Take(ctx, completed)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, claim.Release()) }()
	server, err := o.newServer(ctx, claim.Prepared)
	if err != nil {
		return err
	}
	resting, stop := context.WithCancel(ctx)
	defer stop()
	go func() {
		select {
		case <-server.Ready():
			// Envtest starts one for each package that is tested.
			memory.ReleaseProgramAtRest(resting)
			memory.ReleaseAtRest(resting)
		case <-resting.Done():
		}
	}()
	if err := server.Run(ctx); err != nil && (ctx.Err() == nil || !errors.Is(err, context.Canceled)) {
		return err
	}
	return nil
}

// complete works out what flags of Kubernetes mean for the server.
func (o *Options) complete() error {
	if len(o.Server.Etcd.StorageConfig.Transport.ServerList) == 0 {
		return errors.New("--etcd-servers must be specified")
	}
	if err := o.completeAuthorization(); err != nil {
		return err
	}
	if err := o.admission.complete(&o.Server.Workloads); err != nil {
		return err
	}
	o.completeCertificate()
	return nil
}

// completeCertificate takes the certificate that is in the directory of certificates.
func (o *Options) completeCertificate() {
	cert := &o.Server.Serving.ServerCert
	if cert.CertKey.CertFile != "" || cert.CertDirectory == "" {
		return
	}
	certFile, keyFile := filepath.Join(cert.CertDirectory, "apiserver.crt"), filepath.Join(cert.CertDirectory, "apiserver.key")
	for _, file := range []string{certFile, keyFile} {
		if _, err := os.Stat(file); err != nil {
			return
		}
	}
	cert.CertKey.CertFile, cert.CertKey.KeyFile = certFile, keyFile
}
