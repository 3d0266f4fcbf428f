package doctor

import "time"

// facts are what was found out, before anything is made of it.
type facts struct {
	now time.Time
	// version is that of this program, "" if it was built without one.
	version    string
	kubeconfig kubeconfigFacts
	server     serverFacts
	// programs are the plugins and kubectl on PATH, by name.
	programs []programFacts
	// completes says for which plugins there is somebody who completes their arguments.
	completes map[string]bool
	kubectl   string
}

// kubeconfigFacts are about the files with connections.
type kubeconfigFacts struct {
	// err is why they cannot be used at all.
	err error
	// files are those that are there, locks the lock files beside them.
	files, locks          []string
	context, user, server string
	// previous is why "-" leads nowhere, nil if it leads somewhere or was never used.
	previous error
	// clientExpiry is when the certificate of the user expires, zero without one.
	clientExpiry time.Time
}

// serverFacts are about the server that the kubeconfig leads to.
type serverFacts struct {
	// asked says that there was a server to ask.
	asked bool
	// err is why it did not answer.
	err     error
	latency time.Duration
	version string
	// expiry is when its certificate expires, zero without TLS.
	expiry time.Time

	user    string
	groups  []string
	userErr error
	home    string
	homeErr error
}

// programFacts are the files on PATH with the name of one program, the one that runs
// first.
type programFacts struct {
	name  string
	files []fileFacts
}

// fileFacts are about one file.
type fileFacts struct {
	file, target string
	// platform is what it was built for, "" if that is not known.
	platform string
	version  string
	err      error
}
