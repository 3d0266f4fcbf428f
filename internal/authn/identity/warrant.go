package identity

import (
	"encoding/json"
	"fmt"

	"k8s.io/apiserver/pkg/authentication/user"
)

// maxWarrantDepth bounds how deep warrants within warrants are followed. Deeper ones
// are ignored, as undecodable ones are.
const maxWarrantDepth = 8

// Warrant is an identity whose permissions somebody has besides his own. It stands
// as JSON in the extra key WarrantKey and may carry warrants itself.
type Warrant struct {
	User   string              `json:"user,omitempty"`
	UID    string              `json:"uid,omitempty"`
	Groups []string            `json:"groups,omitempty"`
	Extra  map[string][]string `json:"extra,omitempty"`
}

// NewWarrant returns the warrant for what u may do.
func NewWarrant(u user.Info) Warrant {
	return Warrant{User: u.GetName(), UID: u.GetUID(), Groups: u.GetGroups(), Extra: u.GetExtra()}
}

// ParseWarrant returns the warrant that value spells.
func ParseWarrant(value string) (Warrant, error) {
	var w Warrant
	if err := json.Unmarshal([]byte(value), &w); err != nil {
		return Warrant{}, fmt.Errorf("decoding warrant: %w", err)
	}
	return w, nil
}

// String returns the warrant as it stands in an extra value.
func (w Warrant) String() string {
	// Strings, and lists and maps of them, can always be encoded.
	value, _ := json.Marshal(w)
	return string(value)
}

// userInfo returns the identity that w stands for.
func (w Warrant) userInfo() *user.DefaultInfo {
	return &user.DefaultInfo{Name: w.User, UID: w.UID, Groups: w.Groups, Extra: w.Extra}
}

// ClaimedGroups returns every group that u would be in if somebody claimed to be him:
// his own and those of his warrants, at any depth.
func ClaimedGroups(u user.Info) []string {
	return claimedGroups(nil, u.GetGroups(), u.GetExtra()[WarrantKey], 0)
}

func claimedGroups(claimed, groups, warrants []string, depth int) []string {
	claimed = append(claimed, groups...)
	if depth == maxWarrantDepth {
		return claimed
	}
	for _, value := range warrants {
		if w, err := ParseWarrant(value); err == nil {
			claimed = claimedGroups(claimed, w.Groups, w.Extra[WarrantKey], depth+1)
		}
	}
	return claimed
}

// limitWarrants returns warrants with scope added to each of them. Those that cannot
// be decoded would be ignored anyhow and are left out.
func limitWarrants(warrants []string, scope string, depth int) []string {
	if depth > maxWarrantDepth {
		return nil
	}
	limited := make([]string, 0, len(warrants))
	for _, value := range warrants {
		w, err := ParseWarrant(value)
		if err != nil {
			continue
		}
		limited = append(limited, NewWarrant(limit(w.userInfo(), scope, depth)).String())
	}
	return limited
}
