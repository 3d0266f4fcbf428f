// Package features holds the feature gates of this program. They live in the same
// registry as those of Kubernetes, so that --feature-gates takes both and libraries
// and our own code ask one place.
//
// Registering and asking is all this package does; options set gates, once, before
// anything is built from them. A gate is asked with
//
//	features.Enabled(features.WorkspaceMounts)
package features

import (
	"fmt"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	genericfeatures "k8s.io/apiserver/pkg/features"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
	logsapi "k8s.io/component-base/logs/api/v1"

	// Registers the gates of Kubernetes, which clients of a Kubernetes API server
	// expect to be able to name.
	_ "k8s.io/kubernetes/pkg/features"
)

// The gates of this program. All are alpha and off.
const (
	// WorkspaceMounts lets a Workspace stand for an API server elsewhere.
	WorkspaceMounts featuregate.Feature = "WorkspaceMounts"
	// CacheAPIs serves the APIs of cache.kcp.io.
	CacheAPIs featuregate.Feature = "CacheAPIs"
	// EnableDeprecatedAPIExportVirtualWorkspacesUrls keeps the URLs of virtual
	// workspaces in the status of APIExports.
	EnableDeprecatedAPIExportVirtualWorkspacesUrls featuregate.Feature = "EnableDeprecatedAPIExportVirtualWorkspacesUrls"
	// WorkspaceAuthentication lets a workspace bring its own authenticators.
	WorkspaceAuthentication featuregate.Feature = "WorkspaceAuthentication"
	// LogicalClusterMigration moves logical clusters between shards.
	LogicalClusterMigration featuregate.Feature = "LogicalClusterMigration"
)

func init() {
	gates := utilfeature.DefaultMutableFeatureGate
	alpha := featuregate.FeatureSpec{Default: false, PreRelease: featuregate.Alpha}
	utilruntime.Must(gates.Add(map[featuregate.Feature]featuregate.FeatureSpec{
		WorkspaceMounts: alpha,
		CacheAPIs:       alpha,
		EnableDeprecatedAPIExportVirtualWorkspacesUrls: alpha,
		WorkspaceAuthentication:                        alpha,
		LogicalClusterMigration:                        alpha,
	}))
	utilruntime.Must(logsapi.AddFeatureGates(gates))
	// A watch cache would keep, for each of its last events, a tree of all that there was:
	// a quarter of what an idle workspace takes, for a while. It is there for the later
	// pages of lists, which come from etcd without it.
	utilruntime.Must(gates.OverrideDefault(genericfeatures.ListFromCacheSnapshot, false))
}

// Enabled says whether a gate is on.
func Enabled(feature featuregate.Feature) bool {
	return utilfeature.DefaultFeatureGate.Enabled(feature)
}

// Gates returns all gates, for those who take a registry.
func Gates() featuregate.FeatureGate { return utilfeature.DefaultFeatureGate }

// Validate says which of wanted cannot be set, without setting any.
func Validate(wanted map[string]bool) error {
	// DeepCopy shares nothing with the registry of the process.
	if err := utilfeature.DefaultMutableFeatureGate.DeepCopy().SetFromMap(wanted); err != nil {
		return fmt.Errorf("--feature-gates: %w", err)
	}
	return nil
}

// Set turns gates on and off for the whole process.
func Set(wanted map[string]bool) error {
	if len(wanted) == 0 {
		return nil
	}
	if err := utilfeature.DefaultMutableFeatureGate.SetFromMap(wanted); err != nil {
		return fmt.Errorf("--feature-gates: %w", err)
	}
	return nil
}

// Shown are the gates that the help of --feature-gates names: ours, and those of
// Kubernetes whose effect on a server without nodes can be seen. All others are
// accepted too.
func Shown() []featuregate.Feature {
	return []featuregate.Feature{
		genericfeatures.APIResponseCompression,
		CacheAPIs,
		genericfeatures.ConsistentListFromCache,
		logsapi.ContextualLogging,
		EnableDeprecatedAPIExportVirtualWorkspacesUrls,
		genericfeatures.ListFromCacheSnapshot,
		logsapi.LoggingBetaOptions,
		LogicalClusterMigration,
		genericfeatures.OpenAPIEnums,
		genericfeatures.StorageVersionAPI,
		genericfeatures.StreamingCollectionEncodingToJSON,
		genericfeatures.StreamingCollectionEncodingToProtobuf,
		genericfeatures.WatchList,
		WorkspaceAuthentication,
		WorkspaceMounts,
	}
}
