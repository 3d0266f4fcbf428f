package identity

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/forkless/kcp/internal/servertest"
	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	apisv1alpha2 "github.com/forkless/kcp/pkg/apis/apis/v1alpha2"
	"github.com/forkless/kcp/pkg/apis/conditions"
)

// identities are keys and the identities that everybody agrees they stand for.
var identities = map[string]string{
	"abcd1234": "e9cee71ab932fde863338d08be4de9dfe39ea049bdafb342ce659ec5450b69ae",
	"xxx":      "cd2eb0837c9b4c962c22d2ff8b5441b7b45805887f051d39bf133b583baf6860",
}

func hasIdentity(e apisv1alpha2.APIExport) bool { return e.Status.IdentityHash != "" }

func isValid(e apisv1alpha2.APIExport) bool {
	return conditions.IsTrue(&e, apisv1alpha1.APIExportIdentityValid)
}

func isInvalid(e apisv1alpha2.APIExport) bool {
	return conditions.Reason(&e, apisv1alpha1.APIExportIdentityValid) == apisv1alpha1.ReasonIdentityVerificationFailed
}

func TestIdentityOfExports(t *testing.T) {
	server := servertest.Start(t)

	t.Run("Made", func(t *testing.T) {
		w := newWorkspace(t, server)
		create(w, exports, "APIExport", newExport("widgets"))
		export := eventually(w, exports, "", "widgets", "an identity", hasIdentity)
		same(t, "the export says where its key is",
			&corev1.SecretReference{Namespace: "kcp-system", Name: "widgets"}, export.Spec.Identity.SecretRef)
		same(t, "what the server writes into the spec is a change of it", int64(2), export.Generation)
		same(t, "it is valid", true, isValid(export))

		made, ok := get[corev1.Secret](w, secrets, "kcp-system", "widgets")
		key := made.Data["key"]
		sum := sha256.Sum256(key)
		same(t, "there is a secret with the key", true, ok)
		same(t, "the identity is the hash of the key", hex.EncodeToString(sum[:]), export.Status.IdentityHash)
		raw, err := base64.RawURLEncoding.DecodeString(string(key))
		same(t, "the key is 256 random bits in base64", true, err == nil && len(raw) == 32 && len(key) == 43)
		in, _ := get[corev1.Namespace](w, namespaces, "", "kcp-system")
		same(t, "the namespace was made with it", corev1.NamespaceActive, in.Status.Phase)

		create(w, exports, "APIExport", newExport("gadgets"))
		other := eventually(w, exports, "", "gadgets", "an identity", hasIdentity)
		if other.Status.IdentityHash == export.Status.IdentityHash {
			t.Error("two exports have the same identity, which nobody asked for")
		}
	})

	t.Run("Kept", func(t *testing.T) {
		w := newWorkspace(t, server)
		create(w, exports, "APIExport", newExport("widgets"))
		before := eventually(w, exports, "", "widgets", "an identity", hasIdentity)
		w.delete(exports, "", "widgets")
		create(w, exports, "APIExport", newExport("widgets"))
		after := eventually(w, exports, "", "widgets", "an identity", hasIdentity)
		same(t, "the secret outlives the export, and so does the identity", before.Status.IdentityHash, after.Status.IdentityHash)
	})

	t.Run("Given", func(t *testing.T) {
		one, two := newWorkspace(t, server), newWorkspace(t, server)
		for key, identity := range identities {
			for _, w := range []workspace{one, two} {
				create(w, secrets, "Secret", secret("default", key, key))
				create(w, exports, "APIExport", newExport(key, secretRef("default", key)))
				export := eventually(w, exports, "", key, "an identity", hasIdentity)
				same(t, "the same key makes the same identity, wherever it is", identity, export.Status.IdentityHash)
			}
		}
	})

	t.Run("Late", func(t *testing.T) {
		w := newWorkspace(t, server)
		create(w, exports, "APIExport", newExport("widgets", secretRef("default", "mine")))
		export := eventually(w, exports, "", "widgets", "a complaint", isInvalid)
		same(t, "it says which secret is missing", conditions.Condition{
			Type: "IdentityValid", Status: "False", Severity: "Error",
			Reason: "IdentityVerificationFailed", Message: "secret default/mine not found",
		}, condition(&export, apisv1alpha1.APIExportIdentityValid))
		same(t, "there is no identity without a key", "", export.Status.IdentityHash)

		empty := secret("default", "mine", "")
		empty.Data = map[string][]byte{"other": []byte("x")}
		create(w, secrets, "Secret", empty)
		eventually(w, exports, "", "widgets", "another complaint", func(e apisv1alpha2.APIExport) bool {
			return condition(&e, apisv1alpha1.APIExportIdentityValid).Message == "secret is missing data.key"
		})
		w.patch(secrets, "default", "mine", `{"stringData":{"key":"abcd1234"}}`)
		export = eventually(w, exports, "", "widgets", "an identity", isValid)
		same(t, "the export heals when the secret has a key", identities["abcd1234"], export.Status.IdentityHash)
	})

	t.Run("Changed", func(t *testing.T) {
		w := newWorkspace(t, server)
		create(w, secrets, "Secret", secret("default", "mine", "abcd1234"))
		create(w, exports, "APIExport", newExport("widgets", secretRef("default", "mine")))
		eventually(w, exports, "", "widgets", "an identity", isValid)

		w.patch(secrets, "default", "mine", `{"stringData":{"key":"xxx"}}`)
		export := eventually(w, exports, "", "widgets", "a complaint", isInvalid)
		same(t, "an identity never changes", identities["abcd1234"], export.Status.IdentityHash)
		if message := condition(&export, apisv1alpha1.APIExportIdentityValid).Message; !strings.Contains(message, "hash mismatch") {
			t.Errorf("the message does not say that the hash is another: %s", message)
		}
		w.patch(secrets, "default", "mine", `{"stringData":{"key":"abcd1234"}}`)
		eventually(w, exports, "", "widgets", "the old key to be enough", isValid)

		w.delete(secrets, "default", "mine")
		export = eventually(w, exports, "", "widgets", "a complaint", isInvalid)
		same(t, "an identity outlives its secret", identities["abcd1234"], export.Status.IdentityHash)
		w.patch(exports, "", "widgets", `{"spec":{"identity":{"secretRef":{"name":"elsewhere"}}}}`)
		create(w, secrets, "Secret", secret("default", "elsewhere", "abcd1234"))
		eventually(w, exports, "", "widgets", "the key to be found where the export says it is now", isValid)
	})

	t.Run("NotYours", func(t *testing.T) {
		owner, other := newWorkspace(t, server), newWorkspace(t, server)
		create(owner, secrets, "Secret", secret("default", "mine", "abcd1234"))
		create(other, exports, "APIExport", newExport("widgets", secretRef("default", "mine")))
		export := eventually(other, exports, "", "widgets", "a complaint", isInvalid)
		same(t, "a secret of another workspace is no secret", "", export.Status.IdentityHash)
	})

	t.Run("NamespaceEnds", func(t *testing.T) {
		w := newWorkspace(t, server)
		create(w, exports, "APIExport", newExport("first"))
		eventually(w, exports, "", "first", "an identity", hasIdentity)
		w.patch(secrets, "kcp-system", "first", `{"metadata":{"finalizers":["example.com/held"]}}`)
		w.delete(namespaces, "", "kcp-system")
		create(w, exports, "APIExport", newExport("second"))
		eventually(w, exports, "", "second", "a complaint", func(e apisv1alpha2.APIExport) bool {
			return conditions.Reason(&e, apisv1alpha1.APIExportIdentityValid) == apisv1alpha1.ReasonIdentityGenerationFailed
		})
		w.patch(secrets, "kcp-system", "first", `{"metadata":{"finalizers":null}}`)
		eventually(w, exports, "", "second", "an identity, once there can be a namespace", isValid)
		eventually(w, exports, "", "first", "a complaint, since the key is gone", isInvalid)
	})
}

func TestIdentitySurvivesARestart(t *testing.T) {
	root := t.TempDir()
	server := servertest.StartIn(t, root)
	w := newWorkspace(t, server)
	create(w, exports, "APIExport", newExport("widgets"))
	before := eventually(w, exports, "", "widgets", "an identity", isValid)
	cluster := before.Annotations["kcp.io/cluster"]
	server.Stop()

	server = servertest.StartIn(t, root)
	w = as(t, server.In(t, "base", cluster), w.path)
	after, _ := get[apisv1alpha2.APIExport](w, exports, "", "widgets")
	same(t, "nothing is written that is right", before.ResourceVersion, after.ResourceVersion)
	w.patch(secrets, "kcp-system", "widgets", `{"stringData":{"key":"xxx"}}`)
	eventually(w, exports, "", "widgets", "a complaint", isInvalid)
}
