package apiserver

import (
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"github.com/forkless/kcp/pkg/server/options"
)

// plugins are the flags about admission plugins.
type plugins struct{ enable, disable []string }

// known are the plugins that kube-apiserver has.
var known = []string{
	"AlwaysAdmit", "AlwaysDeny", "AlwaysPullImages", "CertificateApproval", "CertificateSigning", "CertificateSubjectRestriction",
	"ClusterTrustBundleAttest", "DefaultIngressClass", "DefaultStorageClass", "DefaultTolerationSeconds", "DenyServiceExternalIPs",
	"EventRateLimit", "ExtendedResourceToleration", "ImagePolicyWebhook", "JobValidation", "LimitPodHardAntiAffinityTopology", "LimitRanger",
	"MutatingAdmissionPolicy", "MutatingAdmissionWebhook", "NamespaceAutoProvision", "NamespaceExists", "NamespaceLifecycle",
	"NodeDeclaredFeatureValidator", "NodeRestriction", "OwnerReferencesPermissionEnforcement", "PersistentVolumeClaimResize",
	"PersistentVolumeLabel", "PodGroupProtection", "PodGroupWorkloadExists", "PodNodeSelector", "PodResizeValidator", "PodSecurity",
	"PodTolerationRestriction", "PodTopologyLabels", "Priority", "ResourceQuota", "RuntimeClass", "ServiceAccount",
	"StorageObjectInUseProtection", "TaintNodesByCondition", "ValidatingAdmissionPolicy", "ValidatingAdmissionWebhook",
}

func (p *plugins) addFlags(fs *pflag.FlagSet) {
	fs.StringSliceVar(&p.enable, "enable-admission-plugins", nil, "Admission plugins to turn on besides those that are on.")
	fs.StringSliceVar(&p.disable, "disable-admission-plugins", nil, "Admission plugins to turn off.")
}

// complete checks the names, in the words of Kubernetes.
func (p *plugins) complete(o *options.WorkloadOptions) error {
	for _, name := range slices.Concat(p.enable, p.disable) {
		if !slices.Contains(known, name) {
			return fmt.Errorf("admission plugins %s are not available", name)
		}
	}
	for _, name := range p.enable {
		if slices.Contains(p.disable, name) {
			return fmt.Errorf("[%s] in enable-admission-plugins and disable-admission-plugins overlapped", name)
		}
	}
	o.PluginsOff = p.disable
	return nil
}
