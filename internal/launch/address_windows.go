package launch

import "golang.org/x/sys/windows"

// addressInUse is what binding an address that is in use fails with. The constant of
// that name in package syscall is an invented number on Windows.
const addressInUse = windows.WSAEADDRINUSE
