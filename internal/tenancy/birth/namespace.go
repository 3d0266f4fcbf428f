package birth

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/config/namespace"
)

// namespaceNames are the namespaces of a universal workspace.
var namespaceNames = []string{metav1.NamespaceDefault, metav1.NamespaceSystem}

// addNamespaces adds the namespaces of a universal workspace with what every namespace
// has.
func (o *Objects) addNamespaces(in Input) {
	for _, name := range namespaceNames {
		born, account, rootCA := namespace.New(name), namespace.NewDefaultAccount(name), namespace.NewRootCA(name, in.RootCA)
		in.complete(&born.ObjectMeta)
		in.complete(&account.ObjectMeta)
		in.complete(&rootCA.ObjectMeta)
		o.Namespaces = append(o.Namespaces, born)
		o.ServiceAccounts = append(o.ServiceAccounts, account)
		o.ConfigMaps = append(o.ConfigMaps, rootCA)
	}
}
