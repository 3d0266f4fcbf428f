// Package owners is the annotation that says who created a workspace: how it is written,
// read and, once it has served, cut short.
package owners

import (
	"encoding/json"
	"fmt"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apiserver/pkg/authentication/user"

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

// Encode returns the value of the owner annotation that stands for u.
func Encode(u user.Info) (string, error) {
	info := authenticationv1.UserInfo{Username: u.GetName(), UID: u.GetUID(), Groups: u.GetGroups()}
	if extra := u.GetExtra(); len(extra) > 0 {
		info.Extra = make(map[string]authenticationv1.ExtraValue, len(extra))
		for key, values := range extra {
			info.Extra[key] = values
		}
	}
	return encode(info)
}

func encode(info authenticationv1.UserInfo) (string, error) {
	// The fields of UserInfo are in the order of the annotation, and what is empty is
	// left out.
	raw, err := json.Marshal(info)
	if err != nil {
		return "", fmt.Errorf("encoding the owner: %w", err)
	}
	return string(raw), nil
}

// Decode returns the user that a value of the owner annotation stands for.
func Decode(value string) (*authenticationv1.UserInfo, error) {
	info := &authenticationv1.UserInfo{}
	if err := json.Unmarshal([]byte(value), info); err != nil {
		return nil, fmt.Errorf("decoding the owner: %w", err)
	}
	return info, nil
}

// Creator returns the user who created a workspace, nil if its owner annotation does not
// say: then it was somebody privileged.
func Creator(ws *tenancyv1alpha1.Workspace) (user.Info, error) {
	owner, ok := ws.Annotations[tenancyv1alpha1.OwnerAnnotationKey]
	if !ok {
		return nil, nil
	}
	info, err := Decode(owner)
	if err != nil {
		return nil, fmt.Errorf("annotation %s: %w", tenancyv1alpha1.OwnerAnnotationKey, err)
	}
	return User(info), nil
}

// User returns the user that info describes.
func User(info *authenticationv1.UserInfo) user.Info {
	who := &user.DefaultInfo{Name: info.Username, UID: info.UID, Groups: info.Groups}
	if len(info.Extra) > 0 {
		who.Extra = make(map[string][]string, len(info.Extra))
		for key, values := range info.Extra {
			who.Extra[key] = values
		}
	}
	return who
}

// Trim returns the value of the owner annotation with the username only, which is
// all that is needed once a workspace is ready. What cannot be read stays as it is.
func Trim(value string) string {
	info, err := Decode(value)
	if err != nil {
		return value
	}
	trimmed, err := encode(authenticationv1.UserInfo{Username: info.Username})
	if err != nil {
		return value
	}
	return trimmed
}
