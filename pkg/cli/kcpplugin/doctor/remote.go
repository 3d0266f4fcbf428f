package doctor

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"time"

	"k8s.io/client-go/rest"

	kubeconfigs "github.com/forkless/kcp/pkg/cli/kubeconfig"
	"github.com/forkless/kcp/pkg/cli/ws/target"
)

// patience is how long the server may take for each answer.
const patience = 10 * time.Second

// maxAnswer bounds what is read of an answer that should be a version.
const maxAnswer = 1 << 20

// lookAtServer asks the server who it is, and who the caller is.
func lookAtServer(ctx context.Context, finder *target.Finder, config *rest.Config, now func() time.Time) serverFacts {
	s := serverFacts{asked: true}
	origin, err := finder.Origin()
	if err != nil {
		s.err = err
		return s
	}
	if s.err = s.askVersion(ctx, config, origin.Place, now); s.err != nil {
		return s
	}
	c, err := origin.Client()
	if err != nil {
		s.err = err
		return s
	}
	ctx, cancel := context.WithTimeout(ctx, 2*patience)
	defer cancel()
	user, err := c.WhoAmI(ctx, origin.Path)
	s.userErr = err
	if err == nil {
		s.user, s.groups = user.Username, user.Groups
	}
	home, err := c.Home(ctx)
	s.homeErr = err
	if err == nil {
		s.home = home.Spec.URL
	}
	return s
}

// askVersion asks for the version in the workspace that the kubeconfig leads to, and keeps
// what the connection tells on the way.
func (s *serverFacts) askVersion(ctx context.Context, config *rest.Config, place kubeconfigs.Place, now func() time.Time) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	client, err := rest.HTTPClientFor(config)
	if err != nil {
		return err
	}
	base := place.Base
	if place.InWorkspace() {
		base = place.At(place.Path)
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/version", nil)
	if err != nil {
		return err
	}
	start := now()
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	s.latency = now().Sub(start)
	if response.TLS != nil && len(response.TLS.PeerCertificates) > 0 {
		s.expiry = response.TLS.PeerCertificates[0].NotAfter
	}
	if response.StatusCode == http.StatusUnauthorized || response.StatusCode == http.StatusForbidden {
		// It is there; what it thinks of the caller is another check.
		s.version = "of a version that it does not tell"
		return nil
	}
	var answer struct {
		GitVersion string `json:"gitVersion"`
	}
	if response.StatusCode != http.StatusOK || json.NewDecoder(io.LimitReader(response.Body, maxAnswer)).Decode(&answer) != nil || answer.GitVersion == "" {
		return fmt.Errorf("%s answers %s: %w", base, response.Status, errNoVersion)
	}
	s.version = answer.GitVersion
	return nil
}
