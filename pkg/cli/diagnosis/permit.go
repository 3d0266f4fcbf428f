package diagnosis

import (
	"fmt"
	"strings"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// AccessRole is the ClusterRole, known in every workspace, that lets somebody in.
const AccessRole = "system:kcp:workspace:access"

// PermitBind are the steps after which user may bind the export called name in the
// workspace provider, a path or the name of a cluster.
func PermitBind(commands Commands, provider, name, user string) []string {
	in, err := logicalcluster.ParsePath(provider)
	if err != nil {
		return nil
	}
	role := "bind-" + name
	// "kubectl create clusterrole" has ideas of its own about what can be bound.
	manifest := fmt.Sprintf(`{"apiVersion":"rbac.authorization.k8s.io/v1","kind":"ClusterRole","metadata":{"name":%q},`+
		`"rules":[{"apiGroups":["apis.kcp.io"],"resources":["apiexports"],"resourceNames":[%q],"verbs":["bind"]}]}`, role, name)
	return []string{
		Step("echo "+quote(manifest)+" | "+commands.Kubectl(in, "apply", "-f", "-"), "to be run by an administrator of %s", provider),
		Step(commands.Kubectl(in, "create", "clusterrolebinding", role+"-"+ObjectName(user), "--clusterrole="+role, "--user="+user),
			"to be run by an administrator of %s", provider),
	}
}

// PermitAccess is the step after which user may enter the workspace in.
func PermitAccess(commands Commands, in logicalcluster.Path, subject, name string) string {
	return commands.Kubectl(in, "create", "clusterrolebinding", "access-"+ObjectName(name), "--clusterrole="+AccessRole, subject)
}

// ObjectName returns the name of a user in a form that can be a part of the name of an
// object of RBAC.
func ObjectName(user string) string {
	return strings.NewReplacer(":", "-", "/", "-", "%", "-").Replace(user)
}
