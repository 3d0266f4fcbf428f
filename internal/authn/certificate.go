package authn

import (
	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/request/x509"
	"k8s.io/apiserver/pkg/server/dynamiccertificates"
)

// clientCertificate authenticates by the certificate of the TLS connection. The
// certificate's hash goes to the user's extra as the id of the credential.
func clientCertificate(ca dynamiccertificates.CAContentProvider) authenticator.Request {
	return x509.NewDynamic(ca.VerifyOptions, x509.CommonNameUserConversion)
}
