package apiserver

import (
	"github.com/spf13/pflag"
)

// unheeded are flags that change nothing.
type unheeded struct{}

// kind is how a flag takes a value.
type kind int

const (
	// valued flags take one, switches need none.
	valued kind = iota
	switched
)

// add adds a flag that takes any value.
func (u *unheeded) add(fs *pflag.FlagSet, name string, k kind) {
	flag := fs.VarPF(ignored{}, name, "", "Changes nothing here.")
	if k == switched {
		flag.NoOptDefVal = "true"
	}
}

// ignored is the value of a flag that nobody reads.
type ignored struct{}

// String returns nothing.
func (ignored) String() string { return "" }

// Set takes any value.
func (ignored) Set(string) error { return nil }

// Type is what help calls the value.
func (ignored) Type() string { return "value" }
