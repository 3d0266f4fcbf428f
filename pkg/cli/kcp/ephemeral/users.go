package ephemeral

import (
	"crypto/rand"
	"encoding/csv"
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"

	"github.com/forkless/kcp/internal/authn/admin"
)

// user is somebody whom the server knows by a token.
type user struct {
	name   string
	groups []string
	token  string
}

// taken are the names of contexts that the kubeconfig has anyway.
var taken = []string{
	contextName, admin.RootContext, admin.BaseContext, admin.SystemAdminContext, admin.ShardBaseContext, admin.PlainUser,
}

// parseUsers reads the values of --user, and makes a token for each.
func parseUsers(args []string) ([]user, error) {
	var users []user
	for _, arg := range args {
		name, list, _ := strings.Cut(arg, "=")
		u := user{name: name, token: newToken()}
		if name == "" {
			return nil, fmt.Errorf("--user %q: a name is missing; it has to look like alice or alice=team-a,team-b", arg)
		}
		if strings.ContainsFunc(arg, unicode.IsControl) {
			return nil, fmt.Errorf("--user %q: names are text without control characters", arg)
		}
		if slices.Contains(taken, name) {
			return nil, fmt.Errorf("--user %s: the kubeconfig has a context of that name already", name)
		}
		if slices.ContainsFunc(users, func(other user) bool { return other.name == name }) {
			return nil, fmt.Errorf("--user %s: named twice", name)
		}
		for group := range strings.SplitSeq(list, ",") {
			if group != "" {
				u.groups = append(u.groups, group)
			}
		}
		users = append(users, u)
	}
	return users, nil
}

// newToken returns a token that nobody can guess.
func newToken() string {
	random := make([]byte, 16)
	// It never fails.
	_, _ = rand.Read(random)
	return hex.EncodeToString(random)
}

// writeTokens writes users in the form that the server reads.
func writeTokens(w io.Writer, users []user) error {
	records := csv.NewWriter(w)
	for _, u := range users {
		if err := records.Write([]string{u.token, u.name, u.name, strings.Join(u.groups, ",")}); err != nil {
			return err
		}
	}
	records.Flush()
	return records.Error()
}
