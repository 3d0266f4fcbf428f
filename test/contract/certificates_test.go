package contract

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"testing"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var certificates = map[string]behavior{
	"Approved":      {"a request can be made and approved, and what signs it is somebody else's business", requestApproved},
	"Denied":        {"a request can be denied, which is the end of it", requestDenied},
	"Approvers":     {"who approves needs leave for the signer", requestApprovers},
	"Signers":       {"who signs needs leave for the signer", requestSigners},
	"OnlyOnce":      {"what was approved cannot be denied", requestOnlyOnce},
	"SystemMasters": {"nobody gets a certificate that nothing is denied to", requestForMasters},
	"Neighbors":     {"a workspace sees its own requests only", requestNeighbors},
}

const clientSigner = "kubernetes.io/kube-apiserver-client"

// certificateRequest makes a request for a client certificate.
func (c caller) certificateRequest(name, signer string, groups ...string) (*certificatesv1.CertificateSigningRequest, error) {
	c.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	ok(c.t, err)
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{
		Subject: pkix.Name{CommonName: "somebody", Organization: groups},
	}, key)
	ok(c.t, err)
	return c.kube().CertificatesV1().CertificateSigningRequests().Create(c.t.Context(), &certificatesv1.CertificateSigningRequest{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: certificatesv1.CertificateSigningRequestSpec{
			Request:    pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}),
			SignerName: signer,
			Usages:     []certificatesv1.KeyUsage{certificatesv1.UsageClientAuth},
		},
	}, metav1.CreateOptions{})
}

// decide adds a condition to a request.
func (c caller) decide(name string, condition certificatesv1.RequestConditionType) (*certificatesv1.CertificateSigningRequest, error) {
	c.t.Helper()
	all := c.kube().CertificatesV1().CertificateSigningRequests()
	request, err := all.Get(c.t.Context(), name, metav1.GetOptions{})
	ok(c.t, err)
	request.Status.Conditions = append(request.Status.Conditions, certificatesv1.CertificateSigningRequestCondition{
		Type: condition, Status: corev1.ConditionTrue, Reason: "Test", Message: "a test says so",
	})
	return all.UpdateApproval(c.t.Context(), name, request, metav1.UpdateOptions{})
}

// sign writes a certificate into a request.
func (c caller) sign(name string) error {
	c.t.Helper()
	all := c.kube().CertificatesV1().CertificateSigningRequests()
	request, err := all.Get(c.t.Context(), name, metav1.GetOptions{})
	ok(c.t, err)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	ok(c.t, err)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "somebody"}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	ok(c.t, err)
	request.Status.Certificate = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
	_, err = all.UpdateStatus(c.t.Context(), request, metav1.UpdateOptions{})
	return err
}

func requestApproved(t *testing.T, s *suite) {
	inside := s.as(t, alice, s.universal(t, aliceName))
	made, err := inside.certificateRequest("mine", clientSigner)
	ok(t, err)
	if made.Spec.Username != aliceName {
		t.Errorf("it was made by %s", made.Spec.Username)
	}
	approved, err := inside.decide("mine", certificatesv1.CertificateApproved)
	ok(t, err)
	// There is nobody to sign: whatever comes after the approval has come by the time
	// that another request went through.
	_, err = inside.certificateRequest("another", clientSigner)
	ok(t, err)
	later, err := inside.kube().CertificatesV1().CertificateSigningRequests().Get(t.Context(), "mine", metav1.GetOptions{})
	ok(t, err)
	if len(later.Status.Certificate) != 0 || later.ResourceVersion != approved.ResourceVersion {
		t.Errorf("somebody else had a hand in it: %v", later)
	}
}

func requestDenied(t *testing.T, s *suite) {
	inside := s.as(t, alice, s.universal(t, aliceName))
	_, err := inside.certificateRequest("mine", clientSigner)
	ok(t, err)
	denied, err := inside.decide("mine", certificatesv1.CertificateDenied)
	ok(t, err)
	if denied.Status.Conditions[0].Type != certificatesv1.CertificateDenied {
		t.Errorf("got %v", denied.Status)
	}
	_, err = inside.decide("mine", certificatesv1.CertificateApproved)
	refused(t, err, 422)
}

// bystander returns bob in a workspace, who may do anything with requests but for what
// needs leave for their signer.
func (s *suite) bystander(t *testing.T, path string) caller {
	t.Helper()
	s.as(t, s.admin, path).allow(user(bobName), accessRule, rbacv1.PolicyRule{
		Verbs: []string{"*"}, APIGroups: []string{"certificates.k8s.io"},
		Resources: []string{"certificatesigningrequests", "certificatesigningrequests/approval", "certificatesigningrequests/status"},
	})
	inside := s.as(t, bob, path)
	eventually(t, "the rules are in force", func() error {
		_, err := inside.kube().CertificatesV1().CertificateSigningRequests().List(t.Context(), metav1.ListOptions{})
		return err
	})
	return inside
}

// may gives bob leave for one signer.
func (c caller) may(verb, signer string) {
	c.t.Helper()
	c.allow(user(bobName), rbacv1.PolicyRule{
		Verbs: []string{verb}, APIGroups: []string{"certificates.k8s.io"}, Resources: []string{"signers"}, ResourceNames: []string{signer},
	})
}

func requestApprovers(t *testing.T, s *suite) {
	path := s.universal(t)
	inside := s.bystander(t, path)
	_, err := inside.certificateRequest("mine", "example.dev/one")
	ok(t, err)
	_, err = inside.decide("mine", certificatesv1.CertificateApproved)
	refused(t, err, 403, "example.dev/one")
	s.as(t, s.admin, path).may("approve", "example.dev/two")
	_, err = inside.decide("mine", certificatesv1.CertificateApproved)
	refused(t, err, 403, "example.dev/one")
	s.as(t, s.admin, path).may("approve", "example.dev/*")
	eventually(t, "leave for all signers of the domain is enough", func() error {
		_, err := inside.decide("mine", certificatesv1.CertificateApproved)
		return err
	})
}

func requestSigners(t *testing.T, s *suite) {
	path := s.universal(t)
	inside := s.bystander(t, path)
	_, err := inside.certificateRequest("mine", "example.dev/one")
	ok(t, err)
	_, err = s.as(t, s.admin, path).decide("mine", certificatesv1.CertificateApproved)
	ok(t, err)
	refused(t, inside.sign("mine"), 403, "example.dev/one")
	s.as(t, s.admin, path).may("sign", "example.dev/one")
	eventually(t, "who has leave can sign", func() error { return inside.sign("mine") })
}

func requestOnlyOnce(t *testing.T, s *suite) {
	inside := s.as(t, alice, s.universal(t, aliceName))
	_, err := inside.certificateRequest("mine", clientSigner)
	ok(t, err)
	_, err = inside.decide("mine", certificatesv1.CertificateApproved)
	ok(t, err)
	_, err = inside.decide("mine", certificatesv1.CertificateDenied)
	refused(t, err, 422)
}

func requestForMasters(t *testing.T, s *suite) {
	inside := s.as(t, alice, s.universal(t, aliceName))
	_, err := inside.certificateRequest("mine", clientSigner, "system:masters")
	refused(t, err, 403, "system:masters")
	_, err = inside.certificateRequest("mine", "example.dev/one", "system:masters")
	ok(t, err)
}

func requestNeighbors(t *testing.T, s *suite) {
	mine, other := s.as(t, alice, s.universal(t, aliceName)), s.as(t, alice, s.universal(t, aliceName))
	_, err := mine.certificateRequest("mine", clientSigner)
	ok(t, err)
	_, err = other.kube().CertificatesV1().CertificateSigningRequests().Get(t.Context(), "mine", metav1.GetOptions{})
	refused(t, err, 404)
}
