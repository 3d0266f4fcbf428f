package bundle

import (
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// redacted stands where something was left out.
const redacted = "REDACTED"

// secretWords are parts of the names of fields that hold what nobody else may know.
// References to secrets are objects or have other names, and stay.
var secretWords = []string{"token", "password", "passwd", "credential", "privatekey", "private-key", "apikey", "api-key", "clientsecret", "client-secret", "authorization"}

// ownerWords are the fields of a user that say more than the name.
var ownerWords = []string{"extra", "uid"}

// noisyAnnotations are copies of the object, with whatever was secret in it.
var noisyAnnotations = []string{"kubectl.kubernetes.io/last-applied-configuration"}

// Redact returns object without what is secret, or says more of people than their names.
func Redact(object *unstructured.Unstructured) unstructured.Unstructured {
	clean := object.DeepCopy()
	if clean.GetAPIVersion() == "v1" && clean.GetKind() == "Secret" {
		redactAll(clean.Object, "data")
		redactAll(clean.Object, "stringData")
	}
	clean.SetManagedFields(nil)
	annotations := clean.GetAnnotations()
	for name, value := range annotations {
		switch {
		case slices.Contains(noisyAnnotations, name):
			delete(annotations, name)
		case strings.HasPrefix(strings.TrimSpace(value), "{"):
			annotations[name] = redactJSON(value)
		}
	}
	if len(annotations) > 0 || object.GetAnnotations() != nil {
		clean.SetAnnotations(annotations)
	}
	clean.Object, _ = redactValue("", clean.Object).(map[string]any)
	return *clean
}

// redactAll leaves of a field's entries the names.
func redactAll(object map[string]any, field string) {
	entries, _ := object[field].(map[string]any)
	for name := range entries {
		entries[name] = redacted
	}
}

// redactJSON redacts an object that is written in a string.
func redactJSON(text string) string {
	var value map[string]any
	if json.Unmarshal([]byte(text), &value) != nil {
		return text
	}
	clean, err := json.Marshal(redactValue("owner", value))
	if err != nil {
		return redacted
	}
	return string(clean)
}

// redactValue returns the value of the field called name without what is secret.
func redactValue(name string, value any) any {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			switch {
			case isOwner(name) && slices.Contains(ownerWords, key):
				delete(v, key)
			case isSecret(key, inner):
				v[key] = redacted
			default:
				v[key] = redactValue(key, inner)
			}
		}
		return v
	case []any:
		for i := range v {
			v[i] = redactValue(name, v[i])
		}
		return v
	case string:
		return redactString(v)
	default:
		return value
	}
}

// isOwner says whether a field is about a user.
func isOwner(name string) bool { return name == "owner" || name == "createdBy" || name == "user" }

// isSecret says whether a field holds something secret, and not the name of where that is.
func isSecret(name string, value any) bool {
	text, ok := value.(string)
	if !ok || text == "" {
		return false
	}
	lower := strings.ToLower(name)
	return slices.ContainsFunc(secretWords, func(word string) bool { return strings.Contains(lower, word) })
}

// address finds addresses in a text.
var address = regexp.MustCompile(`[a-z][a-z0-9+.-]*://[^\s"']+`)

// bearer finds credentials that somebody has copied into a text.
var bearer = regexp.MustCompile(`(?i)\b(bearer|basic)\s+[a-z0-9._~+/=-]{8,}`)

// redactString takes passwords and tokens out of a text.
func redactString(text string) string {
	text = address.ReplaceAllStringFunc(text, func(found string) string {
		u, err := url.Parse(found)
		if err != nil || u.User == nil {
			return found
		}
		u.User = url.User(redacted)
		return u.String()
	})
	return bearer.ReplaceAllString(text, "$1 "+redacted)
}
