package admin

import (
	"context"
	"crypto/sha256"

	"k8s.io/apiserver/pkg/authentication/authenticator"
)

// tokens are responses by the hash of their tokens. Comparing hashes, and not tokens,
// lets nobody find out a token by the time an answer takes.
type tokens map[[sha256.Size]byte]*authenticator.Response

// AuthenticateToken implements authenticator.Token.
func (t tokens) AuthenticateToken(_ context.Context, token string) (*authenticator.Response, bool, error) {
	response, ok := t[sha256.Sum256([]byte(token))]
	return response, ok, nil
}
