package tenancy

import (
	"encoding/json"
	"fmt"

	authenticationv1 "k8s.io/api/authentication/v1"
	"k8s.io/apiserver/pkg/authentication/user"
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
