// Command terminator winds up workspaces of a type when they are deleted: the ConfigMaps that
// are to be kept are archived as files, and access to a service outside is revoked. It runs in
// the workspace of the type, that of the current context.
//
//	type.yaml    the type, what its terminator may do, and its account
//	windup.go    what is done for each workspace
//	archive.go   files
//	revoke.go    the service outside
//	../hooks     how workspaces are found, and let go
package main

import (
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/forkless/kcp/examples/hooks"
)

// typeName is the name of the WorkspaceType.
const typeName = "tenant"

// patience is how long the service outside may take to answer.
const patience = 30 * time.Second

func main() {
	directory := flag.String("archive", "archive", "The folder that ConfigMaps are archived in")
	service := flag.String("service", "", "The URL of the service that workspaces have access to; <URL>/<cluster> is deleted")
	flag.Parse()
	ctrl.SetLogger(zap.New())
	if err := run(*directory, *service); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(directory, service string) error {
	if service == "" {
		return errors.New("--service is missing")
	}
	w := &winder{
		archive: archive(directory),
		access:  access{service: service, client: &http.Client{Timeout: patience}},
	}
	kinds := hooks.Kinds{corev1.SchemeGroupVersion.WithKind("ConfigMap"): meta.RESTScopeNamespace}
	manager, err := hooks.NewManager(hooks.Terminator, typeName, kinds, w.windUp)
	if err != nil {
		return err
	}
	return manager.Start(ctrl.SetupSignalHandler())
}
