package options

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/runtime"
	genericoptions "k8s.io/apiserver/pkg/server/options"
	"k8s.io/apiserver/pkg/storage/storagebackend"
)

const (
	// embeddedServers is the value of --etcd-servers for an etcd in this process.
	embeddedServers = "embedded"

	defaultEtcdPrefix = "/registry"

	// Where other versions listen for clients and peers of the embedded etcd.
	defaultEtcdClientPort = 2379
	defaultEtcdPeerPort   = 2380
)

// EtcdOptions say where objects are stored.
type EtcdOptions struct {
	// EtcdOptions are those of every Kubernetes API server. The only server "embedded"
	// stands for an etcd in this process.
	*genericoptions.EtcdOptions
	// Embedded is about the etcd in this process.
	Embedded EmbeddedEtcdOptions
}

// EmbeddedEtcdOptions are about the etcd in this process.
type EmbeddedEtcdOptions struct {
	// Directory holds the data; etcd-server in the root directory if empty.
	Directory string
	// WALSizeBytes is the size of a segment of the write-ahead log; etcd's default if 0.
	WALSizeBytes int64
	// QuotaBackendBytes is how large the database may grow; a default if 0.
	QuotaBackendBytes int64
	// ForceNewCluster starts a new single-member cluster from existing data.
	ForceNewCluster bool
	// InMemory keeps the data in memory, for as long as the process lives.
	InMemory bool

	// Ports and URLs belong to flags that nothing reads: the embedded etcd opens no
	// sockets.
	clientPort, peerPort string
	metricsURLs          []string
}

func newEtcdOptions() EtcdOptions {
	etcd := genericoptions.NewEtcdOptions(storagebackend.NewDefaultConfig(defaultEtcdPrefix, nil))
	etcd.StorageConfig.Transport.ServerList = []string{embeddedServers}
	etcd.DefaultStorageMediaType = runtime.ContentTypeProtobuf
	return EtcdOptions{
		EtcdOptions: etcd,
		Embedded: EmbeddedEtcdOptions{
			clientPort: fmt.Sprint(defaultEtcdClientPort),
			peerPort:   fmt.Sprint(defaultEtcdPeerPort),
		},
	}
}

// AddFlags adds the flags of the group to fs.
func (o *EtcdOptions) AddFlags(fs *pflag.FlagSet) {
	o.EtcdOptions.AddFlags(fs)
	fs.Lookup("etcd-servers").Usage = "URLs of the etcd servers to use, comma separated; " +
		"\"embedded\" runs an etcd in this process."

	e := &o.Embedded
	fs.StringVar(&e.Directory, "embedded-etcd-directory", e.Directory,
		"Directory of the embedded etcd. (default <root-directory>/etcd-server)")
	fs.StringVar(&e.clientPort, "embedded-etcd-client-port", e.clientPort, "Port of the embedded etcd for clients.")
	fs.StringVar(&e.peerPort, "embedded-etcd-peer-port", e.peerPort, "Port of the embedded etcd for peers.")
	fs.StringSliceVar(&e.metricsURLs, "embedded-etcd-listen-metrics-urls", nil,
		"URLs where the embedded etcd serves its metrics.")
	fs.BoolVar(&e.InMemory, "in-memory", e.InMemory,
		"Keep the data of the embedded etcd in memory: it is gone when the server stops.")
	fs.Int64Var(&e.WALSizeBytes, "embedded-etcd-wal-size-bytes", e.WALSizeBytes,
		"Size of a segment of the embedded etcd's write-ahead log. 0 leaves it to etcd.")
	fs.Int64Var(&e.QuotaBackendBytes, "embedded-etcd-quota-backend-bytes", e.QuotaBackendBytes,
		"How large the database of the embedded etcd may grow. 0 stands for 8 GiB.")
	fs.BoolVar(&e.ForceNewCluster, "embedded-etcd-force-new-cluster", e.ForceNewCluster,
		"Start a new cluster of one member from the data in the directory, to recover from a lost majority.")
}

func (o *EtcdOptions) servers() []string { return o.StorageConfig.Transport.ServerList }

// embedded says whether etcd is to run in this process.
func (o *EtcdOptions) embedded() bool {
	return slices.Equal(o.servers(), []string{embeddedServers})
}

// Validate says what is wrong with the options.
func (o *EtcdOptions) Validate() []error {
	all := o.EtcdOptions.Validate()
	transport := o.StorageConfig.Transport
	if len(o.servers()) > 1 && slices.Contains(o.servers(), embeddedServers) {
		all = append(all, fmt.Errorf("--etcd-servers=%s mixes the embedded etcd with others", strings.Join(o.servers(), ",")))
	}
	if (transport.CertFile == "") != (transport.KeyFile == "") {
		all = append(all, errors.New("--etcd-certfile and --etcd-keyfile must be given together"))
	}
	if o.embedded() && (transport.CertFile != "" || transport.TrustedCAFile != "") {
		all = append(all, errors.New("--etcd-cafile, --etcd-certfile and --etcd-keyfile need --etcd-servers"))
	}
	if !o.embedded() && o.Embedded.Directory != "" {
		all = append(all, errors.New("--embedded-etcd-directory cannot be used with --etcd-servers"))
	}
	if o.Embedded.InMemory {
		switch {
		case !o.embedded():
			all = append(all, errors.New("--in-memory cannot be used with --etcd-servers"))
		case o.Embedded.Directory != "" || o.Embedded.ForceNewCluster:
			all = append(all, errors.New("--in-memory cannot be used with --embedded-etcd-directory or --embedded-etcd-force-new-cluster: there is no data to begin with"))
		}
	}
	if o.Embedded.WALSizeBytes < 0 || o.Embedded.QuotaBackendBytes < 0 {
		all = append(all, errors.New("--embedded-etcd-wal-size-bytes and --embedded-etcd-quota-backend-bytes cannot be negative"))
	}
	if o.DeleteCollectionWorkers < 1 {
		all = append(all, fmt.Errorf("--delete-collection-workers=%d is not positive", o.DeleteCollectionWorkers))
	}
	if o.StorageConfig.HealthcheckTimeout <= 0 || o.StorageConfig.ReadycheckTimeout <= 0 {
		all = append(all, errors.New("--etcd-healthcheck-timeout and --etcd-readycheck-timeout have to be positive"))
	}
	if o.StorageConfig.LeaseManagerConfig.ReuseDurationSeconds <= 0 {
		all = append(all, fmt.Errorf("--lease-reuse-duration-seconds=%d is not positive", o.StorageConfig.LeaseManagerConfig.ReuseDurationSeconds))
	}
	if o.StorageConfig.CompactionInterval < 0 {
		all = append(all, fmt.Errorf("--etcd-compaction-interval=%s is negative", o.StorageConfig.CompactionInterval))
	}
	return all
}

// Etcd is where objects are stored: in an etcd in this process, or in the one at
// Servers.
type Etcd struct {
	// Embedded says that etcd runs in this process.
	Embedded bool
	// Directory, WALSizeBytes, QuotaBackendBytes and ForceNewCluster are for the
	// embedded etcd; sizes of 0 are left to it.
	Directory         string
	WALSizeBytes      int64
	QuotaBackendBytes int64
	ForceNewCluster   bool
	// InMemory says that the data lives as long as the process. Directory is empty until
	// the process has one for it.
	InMemory bool

	// Servers, CAFile, CertFile and KeyFile are for an etcd elsewhere.
	Servers                   []string
	CAFile, CertFile, KeyFile string

	// Prefix begins all keys.
	Prefix string
	// CompactionInterval is how often old revisions are dropped; 0 means never.
	CompactionInterval time.Duration
	// LeaseReuse is for how long objects that expire share a lease.
	LeaseReuse time.Duration
	// HealthTimeout and ReadyTimeout are how long etcd may take to answer the checks of
	// /livez and /readyz.
	HealthTimeout, ReadyTimeout time.Duration

	// MediaType is the form in which built-in objects are stored.
	MediaType string
	// DeleteCollectionWorkers is how many objects a deletecollection deletes at a time.
	DeleteCollectionWorkers int
	// EncryptionConfig is a file that says which resources are encrypted, and how;
	// empty if none are. With EncryptionReload changes of it count at once.
	EncryptionConfig string
	EncryptionReload bool
}
