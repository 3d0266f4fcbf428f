package server

import "k8s.io/apiserver/pkg/admission"

// admission makes the chain of admission plugins.
func (s *Server) admission() (admission.Interface, error) {
	return admission.NewChainHandler(), nil
}
