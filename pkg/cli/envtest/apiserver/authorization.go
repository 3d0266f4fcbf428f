package apiserver

import (
	"fmt"
	"slices"
	"strings"

	"github.com/forkless/kcp/internal/authz"
)

// The values of --authorization-mode.
const (
	modeAlwaysAllow = "AlwaysAllow"
	modeAlwaysDeny  = "AlwaysDeny"
	modeRBAC        = "RBAC"
	modeNode        = "Node"
)

// completeAuthorization turns modes into authorizers. Nodes have the rights that RBAC gives
// them: there is nothing between a node and its pods here.
func (o *Options) completeAuthorization() error {
	o.Server.Authorization.AllowEverybody()
	order := []string{authz.AlwaysAllowGroups, authz.AlwaysAllowPaths}
	for _, mode := range o.authorize {
		switch mode {
		case modeAlwaysAllow:
			order = append(order, authz.AlwaysAllow)
		case modeRBAC:
			order = append(order, authz.RBAC)
		case modeAlwaysDeny, modeNode:
		default:
			return fmt.Errorf("authorization-mode %q is not a valid mode; known are %s", mode,
				strings.Join([]string{modeAlwaysAllow, modeAlwaysDeny, modeNode, modeRBAC}, ", "))
		}
	}
	slices.Sort(order[2:])
	o.Server.Authorization.Order = slices.Compact(order)
	return nil
}
