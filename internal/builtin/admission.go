package builtin

import (
	mutatingpolicy "k8s.io/kubernetes/pkg/registry/admissionregistration/mutatingadmissionpolicy/storage"
	mutatingpolicybinding "k8s.io/kubernetes/pkg/registry/admissionregistration/mutatingadmissionpolicybinding/storage"
	mutatingwebhook "k8s.io/kubernetes/pkg/registry/admissionregistration/mutatingwebhookconfiguration/storage"
	validatingpolicy "k8s.io/kubernetes/pkg/registry/admissionregistration/validatingadmissionpolicy/storage"
	validatingpolicybinding "k8s.io/kubernetes/pkg/registry/admissionregistration/validatingadmissionpolicybinding/storage"
	validatingwebhook "k8s.io/kubernetes/pkg/registry/admissionregistration/validatingwebhookconfiguration/storage"
)

func admissionregistration(config *Config, _ *shared) (storages, error) {
	resources := storages{}
	for _, add := range []func(*Config, storages) error{addWebhooks, addValidatingPolicies, addMutatingPolicies} {
		if err := add(config, resources); err != nil {
			return nil, err
		}
	}
	return resources, nil
}

func addWebhooks(config *Config, resources storages) error {
	validating, err := validatingwebhook.NewREST(config.RESTOptions)
	if err != nil {
		return err
	}
	mutating, err := mutatingwebhook.NewREST(config.RESTOptions)
	if err != nil {
		return err
	}
	shareTables(validating.Store, mutating.Store)
	resources["validatingwebhookconfigurations"] = validating
	resources["mutatingwebhookconfigurations"] = mutating
	return nil
}

func addValidatingPolicies(config *Config, resources storages) error {
	params := params{Authorizer: config.Authorizer, kinds: config.Kinds}
	policies, status, err := validatingpolicy.NewREST(config.RESTOptions, params, params)
	if err != nil {
		return err
	}
	getter := &validatingpolicybinding.DefaultPolicyGetter{Getter: policies}
	bindings, err := validatingpolicybinding.NewREST(config.RESTOptions, params, getter, params)
	if err != nil {
		return err
	}
	shareTables(policies.Store, bindings.Store)
	resources["validatingadmissionpolicies"] = policies
	resources["validatingadmissionpolicies/status"] = status
	resources["validatingadmissionpolicybindings"] = bindings
	return nil
}

func addMutatingPolicies(config *Config, resources storages) error {
	params := params{Authorizer: config.Authorizer, kinds: config.Kinds}
	policies, err := mutatingpolicy.NewREST(config.RESTOptions, params, params)
	if err != nil {
		return err
	}
	getter := &mutatingpolicybinding.DefaultPolicyGetter{Getter: policies}
	bindings, err := mutatingpolicybinding.NewREST(config.RESTOptions, params, getter, params)
	if err != nil {
		return err
	}
	shareTables(policies.Store, bindings.Store)
	resources["mutatingadmissionpolicies"] = policies
	resources["mutatingadmissionpolicybindings"] = bindings
	return nil
}
