package launch

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/forkless/kcp/internal/rootdir"
)

// tcpListen is the state of listening sockets in /proc/net/tcp.
const tcpListen = "0A"

// ownerOf finds the process that listens on a TCP port, through /proc. It finds none
// that belongs to another user, whose open files cannot be seen.
func ownerOf(port int) Owner {
	var sockets []string
	for _, table := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		sockets = append(sockets, listeners(table, port)...)
	}
	if len(sockets) == 0 {
		return Owner{}
	}
	processes, _ := filepath.Glob("/proc/[0-9]*")
	for _, process := range processes {
		files := openFiles(process)
		if slices.ContainsFunc(files, func(file string) bool { return slices.Contains(sockets, file) }) {
			return describe(process, files, port)
		}
	}
	return Owner{}
}

// listeners returns the sockets that listen on port, in the form in which they appear
// among the open files of a process.
func listeners(table string, port int) []string {
	file, err := os.Open(table)
	if err != nil {
		return nil
	}
	defer func() { _ = file.Close() }()
	suffix := fmt.Sprintf(":%04X", port)
	var sockets []string
	for lines := bufio.NewScanner(file); lines.Scan(); {
		// sl local_address rem_address st queues tr:tm retrnsmt uid timeout inode …
		fields := strings.Fields(lines.Text())
		if len(fields) > 9 && strings.HasSuffix(fields[1], suffix) && fields[3] == tcpListen {
			sockets = append(sockets, "socket:["+fields[9]+"]")
		}
	}
	return sockets
}

// openFiles returns what the file descriptors of a process lead to.
func openFiles(process string) []string {
	descriptors, _ := filepath.Glob(filepath.Join(process, "fd", "*"))
	files := make([]string, 0, len(descriptors))
	for _, descriptor := range descriptors {
		if target, err := os.Readlink(descriptor); err == nil {
			files = append(files, target)
		}
	}
	return files
}

// describe tells what can be known of a process that has these files open and listens
// on port.
func describe(process string, files []string, port int) Owner {
	pid, err := strconv.Atoi(filepath.Base(process))
	if err != nil {
		return Owner{}
	}
	owner := Owner{PID: pid}
	if name, err := os.ReadFile(filepath.Join(process, "comm")); err == nil {
		owner.Name = strings.TrimSpace(string(name))
	}
	owner.RootDirectory = rootOf(files, port)
	return owner
}

// rootOf returns the root directory of the server that listens on port, empty if there
// is none. A process may run several servers; each says in its directory where it
// serves.
func rootOf(files []string, port int) string {
	suffix := ":" + strconv.Itoa(port)
	root := ""
	for _, file := range files {
		if filepath.Base(file) != rootdir.LockFile {
			continue
		}
		root = filepath.Dir(file)
		if holder, held, err := rootdir.HolderOf(root); err == nil && held && strings.HasSuffix(holder.URL, suffix) {
			return root
		}
	}
	return root
}
