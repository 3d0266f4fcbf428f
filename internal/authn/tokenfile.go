package authn

import (
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/token/tokenfile"
)

// tokenFile authenticates the static tokens in the CSV file at path, which is read
// once.
func tokenFile(path string) (authenticator.Token, error) {
	return tokenfile.NewCSV(path)
}
