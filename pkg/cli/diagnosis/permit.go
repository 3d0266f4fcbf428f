package diagnosis

import (
	"encoding/json"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

const apisGroup = "apis.kcp.io"

// AccessRole is the ClusterRole, known in every workspace, that lets somebody in.
const AccessRole = "system:kcp:workspace:access"

// PermitBind are the steps after which user may bind the export called name in the
// workspace provider, a path or the name of a cluster.
func PermitBind(commands Commands, provider, name, user string) []string {
	in, err := logicalcluster.ParsePath(provider)
	if err != nil {
		return nil
	}
	return permit(commands, in, "bind-"+name, user, rbacv1.PolicyRule{
		APIGroups: []string{apisGroup}, Resources: []string{"apiexports"}, ResourceNames: []string{name}, Verbs: []string{"bind"},
	})
}

// MakingBindings are the verbs on apibindings that "kubectl kcp bind" needs: it makes one and
// looks at it until it is bound.
var MakingBindings = []string{"create", "get"}

// PermitBindings are the steps after which user may make APIBindings in the workspace in.
// The role is the same for everybody, so that nobody's is taken away by applying it again.
func PermitBindings(commands Commands, in logicalcluster.Path, user string) []string {
	return permit(commands, in, "make-apibindings", user, rbacv1.PolicyRule{
		APIGroups: []string{apisGroup}, Resources: []string{"apibindings"}, Verbs: MakingBindings,
	})
}

// PermitReading are the steps after which the policy of the workspace in lets user read
// resources. The role is called after all that it grants: one that was made for other
// resources, of which somebody may live, is another one, and not replaced.
func PermitReading(commands Commands, in logicalcluster.Path, user string, resources []schema.GroupResource) []string {
	role := "read"
	var rules []rbacv1.PolicyRule
	for _, r := range resources {
		role += "-" + r.String()
		rules = append(rules, rbacv1.PolicyRule{APIGroups: []string{r.Group}, Resources: []string{r.Resource}, Verbs: []string{"get", "list", "watch"}})
	}
	return permit(commands, in, role, user, rules...)
}

// permit are the steps after which the policy of a workspace grants rules to user.
func permit(commands Commands, in logicalcluster.Path, role, user string, rules ...rbacv1.PolicyRule) []string {
	// "kubectl create clusterrole" has ideas of its own about what can be bound, and knows
	// only resources that are served where the role is to be.
	manifest, err := json.Marshal(clusterRole{
		APIVersion: rbacv1.SchemeGroupVersion.String(), Kind: "ClusterRole",
		Metadata: map[string]string{"name": role}, Rules: rules,
	})
	if err != nil {
		return nil
	}
	there := commands.Elsewhere()
	return []string{
		Step("echo "+quote(string(manifest))+" | "+there.Kubectl(in, "apply", "-f", "-"), "to be run by an administrator of %s", in),
		Step(there.Kubectl(in, "create", "clusterrolebinding", role+"-"+ObjectName(user), "--clusterrole="+role, "--user="+user),
			"to be run by an administrator of %s", in),
	}
}

// clusterRole is a ClusterRole without what only servers write, as it is typed.
type clusterRole struct {
	APIVersion string              `json:"apiVersion"`
	Kind       string              `json:"kind"`
	Metadata   map[string]string   `json:"metadata"`
	Rules      []rbacv1.PolicyRule `json:"rules"`
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

const (
	// OriginKey is the extra key of a service account with the logical cluster that it is of.
	OriginKey = "authentication.kcp.io/cluster-name"

	accountPrefix = "system:serviceaccount:"
	// globalPrefix starts the names of service accounts in workspaces that they are not of.
	globalPrefix = "system:kcp:serviceaccount:"
)

// KnownAs returns the name by which user is known in every workspace. Service accounts have
// another one at home, where it is theirs alone.
func KnownAs(user authenticationv1.UserInfo) string {
	account, ok := strings.CutPrefix(user.Username, accountPrefix)
	if origin := user.Extra[OriginKey]; ok && len(origin) == 1 {
		return globalPrefix + origin[0] + ":" + account
	}
	return user.Username
}

// ConsumerPrefix starts the names of users where a provider says what its consumers may do
// at most with what they have bound.
const ConsumerPrefix = "apis.kcp.io:binding:"
