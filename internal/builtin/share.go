package builtin

import (
	"k8s.io/apimachinery/pkg/runtime"
	api "k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/controller/certificates/rootcacertpublisher"
)

// Share calls share for strings of a stored object that are equal in many objects, and
// puts what it returns in their place: the certificates that every namespace has.
func Share(obj runtime.Object, share func(string) string) {
	configMap, ok := obj.(*api.ConfigMap)
	if !ok || configMap.Name != rootcacertpublisher.RootCACertConfigMapName {
		return
	}
	for key, value := range configMap.Data {
		configMap.Data[share(key)] = share(value)
	}
}
