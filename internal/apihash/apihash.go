package apihash

import (
	"crypto/sha256"
	"encoding/hex"
	"math/big"
	"strings"

	apisv1alpha1 "github.com/forkless/kcp/pkg/apis/apis/v1alpha1"
	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Reflexive is the value of the claim label that every binding carries for its own export,
// which may see it without a claim.
const Reflexive = "LstvmbbzVDDOn90ZbhzSQO5U3DMCf88h1pZ"

// base is what hashes are written in: digits, lower case, upper case.
const base = 62

// Of returns the SHA-224 of s as a number in base 62: at most 38 characters, so that it
// fits a label.
func Of(s string) string {
	sum := sha256.Sum224([]byte(s))
	return new(big.Int).SetBytes(sum[:]).Text(base)
}

// Export returns what stands for an export in labels.
func Export(cluster logicalcluster.Name, name string) string {
	return Of(cluster.String() + ":" + name)
}

// ClaimLabelKey returns the key of the label by which objects are known that an export
// may see.
func ClaimLabelKey(cluster logicalcluster.Name, name string) string {
	return apisv1alpha1.APIExportPermissionClaimLabelPrefix + Export(cluster, name)
}

// The lengths of names of default bindings: as much of the export's name as leaves room
// for a hyphen and the hash.
const (
	exportNameLength = 247
	suffixLength     = 5
)

// BindingName returns what the default binding in consumer for an export is called. path
// is the path by which the export was referred to.
func BindingName(consumer logicalcluster.Name, path, export string) string {
	hash := strings.ToLower(Of(consumer.String() + "|" + path + "|" + export))
	return export[:min(len(export), exportNameLength)] + "-" + hash[:min(len(hash), suffixLength)]
}

// Identity returns the identity that the bytes in the secret of an export make.
func Identity(key []byte) string {
	sum := sha256.Sum256(key)
	return hex.EncodeToString(sum[:])
}
