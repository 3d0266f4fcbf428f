package admin

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"strings"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/forkless/kcp/pkg/logicalcluster"
)

// Contexts of the kubeconfig; PlainUser is one more. Those but ShardBaseContext are names of
// clusters, too.
const (
	RootContext        = "root"
	BaseContext        = "base"
	SystemAdminContext = "system:admin"
	ShardBaseContext   = "shard-base"
)

// Write puts down the kubeconfig and the hash of the shard-admin token. baseURL is the
// server's address without a path, ca is the PEM of the certificates to trust it by.
// The entries of the battery are replaced; those that people added to the kubeconfig,
// and where they are, stay.
func (b *Battery) Write(baseURL string, ca []byte) error {
	config := b.kubeconfig(strings.TrimSuffix(baseURL, "/"), ca)
	keep(config, stored(b.files.Kubeconfig), ca)
	content, err := clientcmd.Write(*config)
	if err != nil {
		return fmt.Errorf("encoding admin kubeconfig: %w", err)
	}
	if err := writeFile(b.files.Kubeconfig, content); err != nil {
		return fmt.Errorf("writing admin kubeconfig: %w", err)
	}
	// The hash comes last. If it is missing because the server was killed here, the
	// next start makes new tokens; a hash whose token is missing would end it.
	hash := sha256.Sum256([]byte(b.identities[0].token))
	if stored, err := os.ReadFile(b.files.TokenHash); err == nil && bytes.Equal(stored, hash[:]) {
		return nil
	}
	if err := writeFile(b.files.TokenHash, hash[:]); err != nil {
		return fmt.Errorf("writing the hash of the %s token: %w", ShardAdminUser, err)
	}
	return nil
}

// kubeconfig returns what people and tests of kcp expect to find.
func (b *Battery) kubeconfig(baseURL string, ca []byte) *clientcmdapi.Config {
	config := clientcmdapi.NewConfig()
	servers := map[string]string{
		RootContext:        clusterURL(baseURL, logicalcluster.Root),
		BaseContext:        baseURL,
		SystemAdminContext: clusterURL(baseURL, logicalcluster.SystemAdmin),
	}
	for name, server := range servers {
		config.Clusters[name] = &clientcmdapi.Cluster{Server: server, CertificateAuthorityData: ca}
	}
	for _, c := range b.identities {
		config.AuthInfos[c.user.Name] = &clientcmdapi.AuthInfo{Token: c.token}
	}
	config.Contexts[RootContext] = &clientcmdapi.Context{Cluster: RootContext, AuthInfo: AdminUser}
	config.Contexts[BaseContext] = &clientcmdapi.Context{Cluster: BaseContext, AuthInfo: AdminUser}
	config.Contexts[SystemAdminContext] = &clientcmdapi.Context{Cluster: SystemAdminContext, AuthInfo: ShardAdminUser}
	config.Contexts[ShardBaseContext] = &clientcmdapi.Context{Cluster: BaseContext, AuthInfo: ShardAdminUser}
	if _, ok := config.AuthInfos[PlainUser]; ok {
		config.Contexts[PlainUser] = &clientcmdapi.Context{Cluster: RootContext, AuthInfo: PlainUser}
	}
	config.CurrentContext = RootContext
	return config
}

func clusterURL(baseURL string, cluster logicalcluster.Name) string {
	return baseURL + "/clusters/" + cluster.String()
}
