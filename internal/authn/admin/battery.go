package admin

import (
	"crypto/sha256"

	"github.com/google/uuid"
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/forkless/kcp/internal/authn/identity"
)

// Names of the users, which are also those of their kubeconfig entries.
const (
	ShardAdminUser = "shard-admin"
	AdminUser      = "kcp-admin"
	PlainUser      = "user"
)

// Files says where the battery keeps what outlives the process.
type Files struct {
	// TokenHash holds the SHA-256 of the shard-admin token, 32 bytes.
	TokenHash string
	// Kubeconfig holds the tokens. Our entries in it are rewritten at each start.
	Kubeconfig string
}

// Battery is the identities of one run of the server.
type Battery struct {
	files      Files
	identities []credential
}

// credential is a token and whom it stands for.
type credential struct {
	token string
	user  *user.DefaultInfo
}

// Prepare reads files, if they are there, and returns the battery of this run, with
// the user called user if withUser is set. It fails if there is a token hash but not
// the token that belongs to it: whoever holds that token must not lose his access
// without a word, and nobody else may take his place.
func Prepare(files Files, withUser bool) (*Battery, error) {
	shardAdmin, err := shardAdminToken(files)
	if err != nil {
		return nil, err
	}
	b := &Battery{files: files}
	b.add(ShardAdminUser, shardAdmin, identity.Masters)
	b.add(AdminUser, newToken(), identity.Admin)
	if withUser {
		b.add(PlainUser, newToken())
	}
	return b, nil
}

func (b *Battery) add(name, token string, groups ...string) {
	b.identities = append(b.identities, credential{
		token: token,
		user:  &user.DefaultInfo{Name: name, UID: uuid.NewString(), Groups: groups},
	})
}

// Authenticator returns an authenticator that knows the tokens of b, and no others.
func (b *Battery) Authenticator() authenticator.Token {
	known := make(tokens, len(b.identities))
	for _, c := range b.identities {
		known[sha256.Sum256([]byte(c.token))] = &authenticator.Response{User: c.user}
	}
	return known
}

// newToken returns a token nobody can guess: 122 random bits, as a UUID.
func newToken() string { return uuid.NewString() }
