//go:build unix

package launch

import "syscall"

// addressInUse is what binding an address that is in use fails with.
const addressInUse = syscall.EADDRINUSE
