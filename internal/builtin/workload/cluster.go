package workload

import (
	endpointslice "k8s.io/kubernetes/pkg/registry/discovery/endpointslice/storage"
	ingress "k8s.io/kubernetes/pkg/registry/networking/ingress/storage"
	ingressclass "k8s.io/kubernetes/pkg/registry/networking/ingressclass/storage"
	networkpolicy "k8s.io/kubernetes/pkg/registry/networking/networkpolicy/storage"
	runtimeclass "k8s.io/kubernetes/pkg/registry/node/runtimeclass/storage"
	priorityclass "k8s.io/kubernetes/pkg/registry/scheduling/priorityclass/storage"
	csidriver "k8s.io/kubernetes/pkg/registry/storage/csidriver/storage"
	csinode "k8s.io/kubernetes/pkg/registry/storage/csinode/storage"
	csistoragecapacity "k8s.io/kubernetes/pkg/registry/storage/csistoragecapacity/storage"
	storageclass "k8s.io/kubernetes/pkg/registry/storage/storageclass/storage"
	volumeattachment "k8s.io/kubernetes/pkg/registry/storage/volumeattachment/storage"
	volumeattributesclass "k8s.io/kubernetes/pkg/registry/storage/volumeattributesclass/storage"
)

func (a *assembly) addNetworking() error {
	const group = "networking.k8s.io"
	ingresses, ingressStatus, err := ingress.NewREST(a.config.RESTOptions)
	if err != nil {
		return err
	}
	classes, err := ingressclass.NewREST(a.config.RESTOptions)
	if err != nil {
		return err
	}
	policies, err := networkpolicy.NewREST(a.config.RESTOptions)
	if err != nil {
		return err
	}
	a.add(group, "ingresses", ingresses.Store, ingresses, Storages{"status": ingressStatus})
	a.add(group, "ingressclasses", classes.Store, classes, nil)
	a.add(group, "networkpolicies", policies.Store, policies, nil)
	return nil
}

func (a *assembly) addScheduling() error {
	classes, err := priorityclass.NewREST(a.config.RESTOptions)
	if err != nil {
		return err
	}
	a.add("scheduling.k8s.io", "priorityclasses", classes.Store, classes, nil)
	return nil
}

func (a *assembly) addStorage() error {
	const group = "storage.k8s.io"
	classes, err := storageclass.NewREST(a.config.RESTOptions)
	if err != nil {
		return err
	}
	attachments, err := volumeattachment.NewStorage(a.config.RESTOptions)
	if err != nil {
		return err
	}
	attributes, err := volumeattributesclass.NewREST(a.config.RESTOptions)
	if err != nil {
		return err
	}
	drivers, err := csidriver.NewStorage(a.config.RESTOptions)
	if err != nil {
		return err
	}
	nodes, err := csinode.NewStorage(a.config.RESTOptions)
	if err != nil {
		return err
	}
	capacities, err := csistoragecapacity.NewStorage(a.config.RESTOptions)
	if err != nil {
		return err
	}
	a.add(group, "storageclasses", classes.Store, classes, nil)
	a.add(group, "volumeattachments", attachments.VolumeAttachment.Store, attachments.VolumeAttachment, Storages{"status": attachments.Status})
	a.add(group, "volumeattributesclasses", attributes.Store, attributes, nil)
	a.add(group, "csidrivers", drivers.CSIDriver.Store, drivers.CSIDriver, nil)
	a.add(group, "csinodes", nodes.CSINode.Store, nodes.CSINode, nil)
	a.add(group, "csistoragecapacities", capacities.CSIStorageCapacity.Store, capacities.CSIStorageCapacity, nil)
	return nil
}

func (a *assembly) addNode() error {
	classes, err := runtimeclass.NewREST(a.config.RESTOptions)
	if err != nil {
		return err
	}
	a.add("node.k8s.io", "runtimeclasses", classes.Store, classes, nil)
	return nil
}

func (a *assembly) addDiscovery() error {
	slices, err := endpointslice.NewREST(a.config.RESTOptions)
	if err != nil {
		return err
	}
	a.add("discovery.k8s.io", "endpointslices", slices.Store, slices, nil)
	return nil
}
