package workloads

import (
	"cmp"
	"context"
	"errors"
	"io"
	"slices"

	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/client-go/informers"
	storagelisters "k8s.io/client-go/listers/storage/v1"
	api "k8s.io/kubernetes/pkg/apis/core"
	"k8s.io/kubernetes/pkg/apis/core/helper"
	storageapi "k8s.io/kubernetes/pkg/apis/storage"
)

// Upstream's plugins for volumes link what mounts them, for a few constants. These do the
// same.
const (
	DefaultStorageClass          = "DefaultStorageClass"
	StorageObjectInUseProtection = "StorageObjectInUseProtection"

	defaultClass     = "storageclass.kubernetes.io/is-default-class"
	betaDefaultClass = "storageclass.beta.kubernetes.io/is-default-class"

	volumeFinalizer     = "kubernetes.io/pv-protection"
	claimFinalizer      = "kubernetes.io/pvc-protection"
	attributesFinalizer = "kubernetes.io/vac-protection"
)

// storageClass gives claims that name no class the default one.
type storageClass struct {
	*admission.Handler
	lister storagelisters.StorageClassLister
}

func registerStorageClass(plugins *admission.Plugins) {
	plugins.Register(DefaultStorageClass, func(io.Reader) (admission.Interface, error) {
		return &storageClass{Handler: admission.NewHandler(admission.Create)}, nil
	})
}

// SetExternalKubeInformerFactory says where the classes are.
func (s *storageClass) SetExternalKubeInformerFactory(f informers.SharedInformerFactory) {
	s.lister = f.Storage().V1().StorageClasses().Lister()
}

// ValidateInitialization says whether it is known where the classes are.
func (s *storageClass) ValidateInitialization() error {
	if s.lister == nil {
		return errors.New("no storage classes to choose from")
	}
	return nil
}

var _ initializer.WantsExternalKubeInformerFactory = &storageClass{}

// Admit sets the class.
func (s *storageClass) Admit(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	claim, ok := a.GetObject().(*api.PersistentVolumeClaim)
	if !ok || a.GetSubresource() != "" || helper.PersistentVolumeClaimHasClass(claim) {
		return nil
	}
	classes, err := s.lister.List(labels.Everything())
	if err != nil {
		return admission.NewForbidden(a, err)
	}
	classes = slices.DeleteFunc(classes, func(c *storagev1.StorageClass) bool {
		return c.Annotations[defaultClass] != "true" && c.Annotations[betaDefaultClass] != "true"
	})
	if len(classes) == 0 {
		return nil
	}
	newest := slices.MinFunc(classes, func(x, y *storagev1.StorageClass) int {
		return cmp.Or(y.CreationTimestamp.Compare(x.CreationTimestamp.Time), cmp.Compare(x.Name, y.Name))
	})
	claim.Spec.StorageClassName = &newest.Name
	return nil
}

// protection gives volumes and claims the finalizers that keep what is in use.
type protection struct{ *admission.Handler }

func registerProtection(plugins *admission.Plugins) {
	plugins.Register(StorageObjectInUseProtection, func(io.Reader) (admission.Interface, error) {
		return protection{admission.NewHandler(admission.Create)}, nil
	})
}

// Admit sets the finalizer.
func (protection) Admit(_ context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	if a.GetSubresource() != "" {
		return nil
	}
	switch object := a.GetObject().(type) {
	case *api.PersistentVolume:
		protect(object, volumeFinalizer)
	case *api.PersistentVolumeClaim:
		protect(object, claimFinalizer)
	case *storageapi.VolumeAttributesClass:
		protect(object, attributesFinalizer)
	}
	return nil
}

func protect(object metav1.Object, finalizer string) {
	if finalizers := object.GetFinalizers(); !slices.Contains(finalizers, finalizer) {
		object.SetFinalizers(append(finalizers, finalizer))
	}
}
