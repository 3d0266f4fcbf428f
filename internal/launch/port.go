package launch

import "fmt"

// PortInUseError says that somebody else listens where the server was to listen.
type PortInUseError struct {
	// Address is the host and port.
	Address string
	// Owner is who listens there, as far as that can be found out.
	Owner Owner
}

// Owner is a process that listens on a port. It is zero if it cannot be found out.
type Owner struct {
	// PID is the process.
	PID int
	// Name is what the process calls itself.
	Name string
	// RootDirectory is the root directory it holds, if it is a server like this one.
	RootDirectory string
}

func (e *PortInUseError) Error() string {
	owner := e.Owner
	switch {
	case owner.RootDirectory != "":
		return fmt.Sprintf("%s is in use by kcp pid %d (%s)", e.Address, owner.PID, owner.RootDirectory)
	case owner.PID != 0 && owner.Name != "":
		return fmt.Sprintf("%s is in use by %s pid %d", e.Address, owner.Name, owner.PID)
	case owner.PID != 0:
		return fmt.Sprintf("%s is in use by pid %d", e.Address, owner.PID)
	default:
		return fmt.Sprintf("%s is in use", e.Address)
	}
}
