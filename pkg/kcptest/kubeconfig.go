package kcptest

import (
	"path/filepath"
	"testing"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// contextName names everything in a kubeconfig of one context.
const contextName = "kcptest"

// Kubeconfig writes a kubeconfig with what config says, for kubectl and other programs, and
// returns its path. It is gone when the test ends.
func Kubeconfig(t testing.TB, config *rest.Config) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "kubeconfig")
	if err := WriteKubeconfig(file, config); err != nil {
		t.Fatal(err)
	}
	return file
}

// WriteKubeconfig is Kubeconfig for those who are no test, or want to have it elsewhere.
func WriteKubeconfig(file string, config *rest.Config) error {
	content := clientcmdapi.NewConfig()
	content.Clusters[contextName] = &clientcmdapi.Cluster{
		Server:                   config.Host,
		TLSServerName:            config.ServerName,
		InsecureSkipTLSVerify:    config.Insecure,
		CertificateAuthority:     config.CAFile,
		CertificateAuthorityData: config.CAData,
	}
	content.AuthInfos[contextName] = &clientcmdapi.AuthInfo{
		ClientCertificate:     config.CertFile,
		ClientCertificateData: config.CertData,
		ClientKey:             config.KeyFile,
		ClientKeyData:         config.KeyData,
		Token:                 config.BearerToken,
		TokenFile:             config.BearerTokenFile,
		Username:              config.Username,
		Password:              config.Password,
		Impersonate:           config.Impersonate.UserName,
		ImpersonateGroups:     config.Impersonate.Groups,
	}
	content.Contexts[contextName] = &clientcmdapi.Context{Cluster: contextName, AuthInfo: contextName}
	content.CurrentContext = contextName
	return clientcmd.WriteToFile(*content, file)
}
