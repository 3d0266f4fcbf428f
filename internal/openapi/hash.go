package openapi

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/forkless/kcp/internal/schema"
)

// hash identifies the document called name that is made of definitions.
func (o *OpenAPI) hash(name string, definitions []*schema.Definition) string {
	digest := sha256.New()
	for _, part := range []string{o.builtins.identity(), name} {
		digest.Write([]byte(part))
		digest.Write([]byte{0})
	}
	for _, definition := range definitions {
		digest.Write([]byte(definition.Hash))
		digest.Write([]byte{0})
	}
	return strings.ToUpper(hex.EncodeToString(digest.Sum(nil)))
}
