package workload

import (
	kubeletclient "k8s.io/kubernetes/pkg/kubelet/client"
	endpoint "k8s.io/kubernetes/pkg/registry/core/endpoint/storage"
	limitrange "k8s.io/kubernetes/pkg/registry/core/limitrange/storage"
	node "k8s.io/kubernetes/pkg/registry/core/node/storage"
	persistentvolume "k8s.io/kubernetes/pkg/registry/core/persistentvolume/storage"
	persistentvolumeclaim "k8s.io/kubernetes/pkg/registry/core/persistentvolumeclaim/storage"
	pod "k8s.io/kubernetes/pkg/registry/core/pod/storage"
	podtemplate "k8s.io/kubernetes/pkg/registry/core/podtemplate/storage"
	replicationcontroller "k8s.io/kubernetes/pkg/registry/core/replicationcontroller/storage"
	poddisruptionbudget "k8s.io/kubernetes/pkg/registry/policy/poddisruptionbudget/storage"
)

const (
	core   = ""
	policy = "policy"
)

func (a *assembly) addPolicy() error {
	budgets, status, err := poddisruptionbudget.NewREST(a.config.RESTOptions)
	if err != nil {
		return err
	}
	a.add(policy, "poddisruptionbudgets", budgets.Store, budgets, Storages{"status": status})
	return nil
}

func (a *assembly) addCore() error {
	for _, add := range []func(*assembly) error{
		(*assembly).addNodes, (*assembly).addPods, (*assembly).addServices, (*assembly).addVolumes, (*assembly).addTemplates,
	} {
		if err := add(a); err != nil {
			return err
		}
	}
	return nil
}

func (a *assembly) addNodes() error {
	nodes, err := node.NewStorage(a.config.RESTOptions, kubeletclient.KubeletClientConfig{}, nil)
	if err != nil {
		return err
	}
	a.add(core, "nodes", nodes.Node.Store, nodes.Node, Storages{"status": nodes.Status})
	return nil
}

func (a *assembly) addPods() error {
	pods, err := pod.NewStorage(a.config.RESTOptions, nil, nil, nil, a.config.Authorizer)
	if err != nil {
		return err
	}
	a.add(core, "pods", pods.Pod.Store, pods.Pod, Storages{
		"status":              pods.Status,
		"binding":             pods.Binding,
		"ephemeralcontainers": pods.EphemeralContainers,
		"resize":              pods.Resize,
		"eviction":            newEvictions(a, pods.Pod.Store),
	})
	a.groups[core]["bindings"] = pods.LegacyBinding
	return nil
}

func (a *assembly) addServices() error {
	endpoints, err := endpoint.NewREST(a.config.RESTOptions)
	if err != nil {
		return err
	}
	a.add(core, "endpoints", endpoints.Store, endpoints, nil)
	services, status, err := newServices(a.config, endpoints, a.groups[core]["pods"].(*pod.REST))
	if err != nil {
		return err
	}
	a.add(core, "services", services.Store, services, Storages{"status": status})
	return nil
}

func (a *assembly) addVolumes() error {
	volumes, volumeStatus, err := persistentvolume.NewREST(a.config.RESTOptions)
	if err != nil {
		return err
	}
	claims, claimStatus, err := persistentvolumeclaim.NewREST(a.config.RESTOptions)
	if err != nil {
		return err
	}
	a.add(core, "persistentvolumes", volumes.Store, volumes, Storages{"status": volumeStatus})
	a.add(core, "persistentvolumeclaims", claims.Store, claims, Storages{"status": claimStatus})
	return nil
}

func (a *assembly) addTemplates() error {
	limits, err := limitrange.NewREST(a.config.RESTOptions)
	if err != nil {
		return err
	}
	templates, err := podtemplate.NewREST(a.config.RESTOptions)
	if err != nil {
		return err
	}
	controllers, err := replicationcontroller.NewStorage(a.config.RESTOptions)
	if err != nil {
		return err
	}
	a.add(core, "limitranges", limits.Store, limits, nil)
	a.add(core, "podtemplates", templates.Store, templates, nil)
	a.add(core, "replicationcontrollers", controllers.Controller.Store, controllers.Controller,
		Storages{"status": controllers.Status, "scale": controllers.Scale})
	return nil
}
