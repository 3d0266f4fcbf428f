package emit

import (
	"fmt"

	"k8s.io/client-go/tools/clientcmd/api"
)

// contexts returns config, which has one context, with one for each of the endpoints
// instead, named for what they lead to.
func contexts(config *api.Config, name string, endpoints []endpoint) *api.Config {
	from := config.Contexts[config.CurrentContext]
	cluster := config.Clusters[from.Cluster]
	out := api.NewConfig()
	out.AuthInfos = config.AuthInfos
	for i, e := range endpoints {
		called := name
		switch {
		case len(endpoints) == 1:
		case e.shard != "":
			called = name + "/" + e.shard
		default:
			called = fmt.Sprintf("%s/%d", name, i+1)
		}
		leads := cluster.DeepCopy()
		leads.Server = e.url
		out.Clusters[called] = leads
		context := from.DeepCopy()
		context.Cluster = called
		out.Contexts[called] = context
		if i == 0 {
			out.CurrentContext = called
		}
	}
	return out
}

// withToken gives config a user with a token instead of the one that is in it.
func withToken(config *api.Config, user, token string) {
	config.AuthInfos = map[string]*api.AuthInfo{user: {Token: token}}
	for _, context := range config.Contexts {
		context.AuthInfo = user
	}
}

// secret says what is in config that is not to be seen by whoever looks at a terminal, ""
// for nothing.
func secret(config *api.Config) string {
	for _, user := range config.AuthInfos {
		switch {
		case len(user.ClientKeyData) > 0:
			return "a client key"
		case user.Exec != nil:
			return fmt.Sprintf("an exec plugin (%s)", user.Exec.Command)
		}
	}
	return ""
}
