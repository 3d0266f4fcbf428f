package tenancy

import (
	"encoding/json"
	"fmt"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apiserver/pkg/authentication/user"

	tenancyv1alpha1 "github.com/forkless/kcp/pkg/apis/tenancy/v1alpha1"
)

// EncodeOwner returns the value of the owner annotation that stands for u.
func EncodeOwner(u user.Info) (string, error) {
	info := authenticationv1.UserInfo{Username: u.GetName(), UID: u.GetUID(), Groups: u.GetGroups()}
	if extra := u.GetExtra(); len(extra) > 0 {
		info.Extra = make(map[string]authenticationv1.ExtraValue, len(extra))
		for key, values := range extra {
			info.Extra[key] = values
		}
	}
	return encodeOwner(info)
}

func encodeOwner(info authenticationv1.UserInfo) (string, error) {
	// The fields of UserInfo are in the order of the annotation, and what is empty is
	// left out.
	raw, err := json.Marshal(info)
	if err != nil {
		return "", fmt.Errorf("encoding the owner: %w", err)
	}
	return string(raw), nil
}

// DecodeOwner returns the user that a value of the owner annotation stands for.
func DecodeOwner(value string) (*authenticationv1.UserInfo, error) {
	info := &authenticationv1.UserInfo{}
	if err := json.Unmarshal([]byte(value), info); err != nil {
		return nil, fmt.Errorf("decoding the owner: %w", err)
	}
	return info, nil
}

// CreatorOf returns the user who created a workspace, nil if its owner annotation does not
// say: then it was somebody privileged.
func CreatorOf(ws *tenancyv1alpha1.Workspace) (user.Info, error) {
	owner, ok := ws.Annotations[tenancyv1alpha1.OwnerAnnotationKey]
	if !ok {
		return nil, nil
	}
	info, err := DecodeOwner(owner)
	if err != nil {
		return nil, fmt.Errorf("annotation %s: %w", tenancyv1alpha1.OwnerAnnotationKey, err)
	}
	return UserOf(info), nil
}

// UserOf returns the user that info describes.
func UserOf(info *authenticationv1.UserInfo) user.Info {
	who := &user.DefaultInfo{Name: info.Username, UID: info.UID, Groups: info.Groups}
	if len(info.Extra) > 0 {
		who.Extra = make(map[string][]string, len(info.Extra))
		for key, values := range info.Extra {
			who.Extra[key] = values
		}
	}
	return who
}

// TrimOwner returns the value of the owner annotation with the username only, which is
// all that is needed once a workspace is ready. What cannot be read stays as it is.
func TrimOwner(value string) string {
	info, err := DecodeOwner(value)
	if err != nil {
		return value
	}
	trimmed, err := encodeOwner(authenticationv1.UserInfo{Username: info.Username})
	if err != nil {
		return value
	}
	return trimmed
}
