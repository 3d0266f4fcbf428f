package builtin

import (
	"k8s.io/kubernetes/pkg/registry/authentication/selfsubjectreview"
	"k8s.io/kubernetes/pkg/registry/authentication/tokenreview"
	"k8s.io/kubernetes/pkg/registry/authorization/localsubjectaccessreview"
	"k8s.io/kubernetes/pkg/registry/authorization/selfsubjectaccessreview"
	"k8s.io/kubernetes/pkg/registry/authorization/selfsubjectrulesreview"
	"k8s.io/kubernetes/pkg/registry/authorization/subjectaccessreview"
)

func authentication(config *Config, _ *shared) (storages, error) {
	return storages{
		"tokenreviews":       tokenreview.NewREST(config.Authenticator, config.Audiences),
		"selfsubjectreviews": selfsubjectreview.NewREST(),
	}, nil
}

func authorization(config *Config, _ *shared) (storages, error) {
	return storages{
		"subjectaccessreviews":      subjectaccessreview.NewREST(config.Authorizer),
		"selfsubjectaccessreviews":  selfsubjectaccessreview.NewREST(config.Authorizer),
		"localsubjectaccessreviews": localsubjectaccessreview.NewREST(config.Authorizer),
		"selfsubjectrulesreviews":   selfsubjectrulesreview.NewREST(config.UserRules),
	}, nil
}
