package servertest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"k8s.io/client-go/rest"
)

// Users are the ordinary users that a server knows which was started with WithUsers:
// user-1 to user-5, each with a group of its own, team-1 to team-5. Their tokens are
// their names with "-token" behind.
const Users = 5

// WithUsers returns the flag that makes a server know Users, and an administrator beyond
// all authorization with the token admin-token.
func WithUsers(t testing.TB) string {
	t.Helper()
	var lines strings.Builder
	for i := 1; i <= Users; i++ {
		_, _ = fmt.Fprintf(&lines, "user-%d-token,user-%d,1111-%d,\"team-%d\"\n", i, i, i, i)
	}
	lines.WriteString("admin-token,admin,2222,\"system:masters\"\n")
	file := filepath.Join(t.TempDir(), "tokens.csv")
	if err := os.WriteFile(file, []byte(lines.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return "--token-auth-file=" + file
}

// As returns the configuration of a user by token, directed at a workspace by path or
// name. Without a token the user is anonymous.
func (s *Server) As(t testing.TB, token, workspace string) *rest.Config {
	t.Helper()
	config := rest.AnonymousClientConfig(s.In(t, "base", workspace))
	config.BearerToken = token
	config.QPS = -1
	return config
}
