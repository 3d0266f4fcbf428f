package virtual

import (
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/endpoints/handlers/responsewriters"
	"k8s.io/apiserver/pkg/endpoints/request"
)

// notVirtual is what is said of URLs that are none of a virtual workspace.
const notVirtual = "Path not resolved to a valid virtual workspace"

func (f *Frame) refuse(w http.ResponseWriter, req *http.Request) {
	Fail(w, req, f.config.Serializer, &apierrors.StatusError{ErrStatus: metav1.Status{
		Status:  metav1.StatusFailure,
		Code:    http.StatusNotFound,
		Reason:  metav1.StatusReasonNotFound,
		Message: notVirtual,
	}})
}

// NotFound answers that what a request is for does not exist.
func NotFound(w http.ResponseWriter, req *http.Request, codec runtime.NegotiatedSerializer) {
	Fail(w, req, codec, apierrors.NewGenericServerResponse(http.StatusNotFound, "", apischema.GroupResource{}, "", "", 0, true))
}

// Fail answers with a Status error.
func Fail(w http.ResponseWriter, req *http.Request, codec runtime.NegotiatedSerializer, err error) {
	var version apischema.GroupVersion
	if info, ok := request.RequestInfoFrom(req.Context()); ok {
		version = apischema.GroupVersion{Group: info.APIGroup, Version: info.APIVersion}
	}
	responsewriters.ErrorNegotiated(err, codec, version, w, req)
}
