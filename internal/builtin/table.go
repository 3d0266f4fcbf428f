package builtin

import (
	"sync"

	"k8s.io/apiserver/pkg/registry/generic/registry"
	"k8s.io/kubernetes/pkg/printers"
	printersinternal "k8s.io/kubernetes/pkg/printers/internalversion"
	printerstorage "k8s.io/kubernetes/pkg/printers/storage"
)

// tables prints all built-in kinds.
var tables = sync.OnceValue(func() printerstorage.TableConvertor {
	return printerstorage.TableConvertor{TableGenerator: printers.NewTableGenerator().With(printersinternal.AddHandlers)}
})

// shareTables gives stores one table convertor. Upstream makes one for each store,
// each with the columns and reflected handlers of all kinds there are. Stores that
// print in a way of their own keep it.
func shareTables(stores ...*registry.Store) {
	for _, store := range stores {
		if _, ok := store.TableConvertor.(printerstorage.TableConvertor); ok {
			store.TableConvertor = tables()
		}
	}
}
