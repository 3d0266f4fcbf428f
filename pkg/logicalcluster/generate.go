package logicalcluster

import (
	"crypto/rand"
	"crypto/sha256"
	"math/big"
	"strings"
)

// generatedLength is the number of characters of a generated name: 82 bits, so
// that two of a billion clusters share a name with a probability of about 1e-7.
const generatedLength = 16

// Generate returns a fresh random name of 16 base36 characters.
func Generate() Name {
	var seed [32]byte
	// crypto/rand.Read never returns an error, it ends the program instead.
	_, _ = rand.Read(seed[:])
	return Name{HashBase36(seed[:])[:generatedLength]}
}

// HashBase36 returns the SHA-224 of data in base36, with one leading "0" for each
// leading zero byte. Names, shard hashes and home workspaces are derived with it.
func HashBase36(data []byte) string {
	sum := sha256.Sum224(data)
	return Base36(sum[:])
}

// Base36 returns data, read as a big-endian number, in base36 with one leading "0"
// for each leading zero byte.
func Base36(data []byte) string {
	zeros := 0
	for zeros < len(data) && data[zeros] == 0 {
		zeros++
	}
	digits := ""
	if zeros < len(data) {
		digits = new(big.Int).SetBytes(data).Text(36)
	}
	return strings.Repeat("0", zeros) + digits
}
