package authn

import (
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/request/bearertoken"
	"k8s.io/apiserver/pkg/authentication/request/websocket"
	"k8s.io/apiserver/pkg/authentication/token/union"
)

// bearer authenticates the token in the header Authorization. A token that none of
// tokens knows is an error.
func bearer(tokens ...authenticator.Token) authenticator.Request {
	return bearertoken.New(union.New(tokens...))
}

// websocketBearer authenticates the token that browsers, which cannot set headers,
// send as a protocol of a websocket.
func websocketBearer(tokens ...authenticator.Token) authenticator.Request {
	return websocket.NewProtocolAuthenticator(union.New(tokens...))
}
