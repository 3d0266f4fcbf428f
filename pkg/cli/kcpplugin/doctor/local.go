package doctor

import (
	"bytes"
	"context"
	"crypto/x509"
	"debug/buildinfo"
	"encoding/json"
	"encoding/pem"
	"net/url"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"time"

	"k8s.io/client-go/rest"

	kubeconfigs "github.com/forkless/kcp/pkg/cli/kubeconfig"
	"github.com/forkless/kcp/pkg/cli/onpath"
)

// module begins the paths of the packages that our programs are made of.
const module = "github.com/forkless/kcp"

// programPatience is how long a program may take to say which version it is.
const programPatience = 5 * time.Second

// lookAtKubeconfig reads the kubeconfig, and nothing of what is secret in it.
func lookAtKubeconfig(flags *kubeconfigs.Flags) (kubeconfigFacts, *kubeconfigs.Snapshot) {
	snapshot, err := flags.Load()
	if err != nil {
		return kubeconfigFacts{err: err}, nil
	}
	place, err := snapshot.Place()
	if err != nil {
		return kubeconfigFacts{err: err}, nil
	}
	k := kubeconfigFacts{context: snapshot.Context(), user: snapshot.User(), server: redact(place.Server), locks: snapshot.Locks()}
	for _, file := range snapshot.Files() {
		if _, err := os.Stat(file); err == nil {
			k.files = append(k.files, file)
		}
	}
	if snapshot.HasPrevious() {
		_, k.previous = snapshot.Previous()
	}
	return k, snapshot
}

// redact takes the password out of an address.
func redact(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return address
	}
	return u.Redacted()
}

// clientExpiry returns when the certificate of the user expires, zero without one.
func clientExpiry(config *rest.Config) time.Time {
	content := config.CertData
	if len(content) == 0 && config.CertFile != "" {
		content, _ = os.ReadFile(config.CertFile)
	}
	block, _ := pem.Decode(content)
	if block == nil {
		return time.Time{}
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		return time.Time{}
	}
	return certificate.NotAfter
}

// lookForPrograms looks at the files on PATH with these names.
func lookForPrograms(ctx context.Context, names []string) []programFacts {
	folders := onpath.Folders()
	var all []programFacts
	for _, name := range names {
		p := programFacts{name: name}
		for _, found := range onpath.Find(name, folders) {
			p.files = append(p.files, lookAtProgram(ctx, found))
		}
		all = append(all, p)
	}
	return all
}

// lookAtProgram reads what the linker has put into a program. It runs it only if it is
// one of ours, and for this machine: who knows what others do with --version.
func lookAtProgram(ctx context.Context, found onpath.Program) fileFacts {
	f := fileFacts{file: found.File, target: found.Target}
	if found.Target == "" {
		return f
	}
	info, err := buildinfo.ReadFile(found.Target)
	if err != nil {
		// It is not written in Go, as those are not that go before ours.
		f.version = "(not one of ours)"
		return f
	}
	f.platform = setting(info, "GOOS") + "/" + setting(info, "GOARCH")
	if info.Main.Path != module {
		f.version = "(of " + info.Main.Path + ")"
		return f
	}
	if f.platform != here() {
		return f
	}
	f.version, f.err = versionOf(ctx, found.File)
	return f
}

func setting(info *debug.BuildInfo, key string) string {
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

// versionOf returns the last word that a program says about its version.
func versionOf(ctx context.Context, file string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, programPatience)
	defer cancel()
	out, err := exec.CommandContext(ctx, file, "--version").Output()
	if err != nil {
		return "", err
	}
	words := strings.Fields(string(out))
	if len(words) == 0 {
		return "", nil
	}
	return words[len(words)-1], nil
}

// kubectlVersion returns the version of the kubectl on PATH, "" without one.
func kubectlVersion(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, programPatience)
	defer cancel()
	out, err := exec.CommandContext(ctx, "kubectl", "version", "--client", "--output=json").Output()
	if err != nil {
		return ""
	}
	var answer struct {
		ClientVersion struct {
			GitVersion string `json:"gitVersion"`
		} `json:"clientVersion"`
	}
	if json.NewDecoder(bytes.NewReader(out)).Decode(&answer) != nil {
		return ""
	}
	if strings.HasPrefix(answer.ClientVersion.GitVersion, unstamped) {
		return "built without a version"
	}
	return answer.ClientVersion.GitVersion
}
