package options

import (
	"io"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/sets"

	"github.com/forkless/kcp/internal/features"
)

// parse returns the options that a command line stands for.
func parse(arguments ...string) (*Options, error) {
	o := NewOptions()
	fs := pflag.NewFlagSet("kcp", pflag.ContinueOnError)
	fs.SetOutput(io.Discard)
	o.AddFlags(fs)
	return o, fs.Parse(arguments)
}

func complete(t *testing.T, arguments ...string) *Completed {
	t.Helper()
	o, err := parse(arguments...)
	if err != nil {
		t.Fatal(err)
	}
	c, err := o.Complete()
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// flags are those that people and test harnesses use, each with the default that help
// is to show and a value to parse.
var flags = map[string]struct{ byDefault, value string }{
	"root-directory":                  {".kcp", "/tmp/kcp"},
	"bind-address":                    {"0.0.0.0", "127.0.0.1"},
	"secure-port":                     {"6443", "7443"},
	"external-hostname":               {"", "kcp.example.com"},
	"experimental-bind-free-port":     {"false", "true"},
	"kubeconfig-path":                 {"", "/tmp/admin.kubeconfig"},
	"authentication-admin-token-path": {"", "/tmp/token"},
	"batteries-included":              {"[admin,workspace-types]", "+user"},
	"feature-gates":                   {"", "WorkspaceMounts=true,CacheAPIs=true,WorkspaceAuthentication=true,LogicalClusterMigration=true"},

	"shard-name":                                {"root", "alpha"},
	"shard-base-url":                            {"", "https://kcp.example.com:6443"},
	"shard-external-url":                        {"", "https://kcp.example.com:443"},
	"shard-virtual-workspace-url":               {"", "https://kcp.example.com:6444"},
	"shard-virtual-workspace-ca-file":           {"", "ca.crt"},
	"shard-client-cert-file":                    {"", "client.crt"},
	"shard-client-key-file":                     {"", "client.key"},
	"mount-proxy-client-cert-file":              {"", "client.crt"},
	"mount-proxy-client-key-file":               {"", "client.key"},
	"root-shard-kubeconfig-file":                {"", "root.kubeconfig"},
	"shard-kubeconfig-file":                     {"", "shard.kubeconfig"},
	"cache-kubeconfig":                          {"", "cache.kubeconfig"},
	"logical-cluster-admin-kubeconfig":          {"", "admin.kubeconfig"},
	"external-logical-cluster-admin-kubeconfig": {"", "admin.kubeconfig"},
	"root-identities-file":                      {"", "identities.yaml"},
	"miniproxy-mapping-file":                    {"", "mapping.yaml"},

	"run-virtual-workspaces":                 {"true", "false"},
	"run-controllers":                        {"true", "false"},
	"unsupported-run-individual-controllers": {"[]", "workspaces"},
	"enable-leader-election":                 {"false", "true"},
	"leader-election-namespace":              {"kube-system", "default"},
	"leader-election-name":                   {"kcp-controllers", "other"},
	"enable-home-workspaces":                 {"true", "false"},
	"home-workspaces-home-creator-groups":    {"[system:authenticated]", "team-1"},
	"home-workspaces-layout":                 {"rootless", "buckets"},

	"home-workspaces-root-prefix":              {"root:users", "root:people"},
	"home-workspaces-bucket-levels":            {"2", "3"},
	"home-workspaces-bucket-size":              {"2", "1"},
	"home-workspaces-allow-unbalanced-buckets": {"false", "true"},
	"home-workspaces-creation-delay-seconds":   {"2", "1"},

	"token-auth-file":                          {"", "tokens.csv"},
	"client-ca-file":                           {"", "ca.crt"},
	"anonymous-auth":                           {"true", "false"},
	"api-audiences":                            {"[]", "https://a"},
	"authentication-drop-groups":               {"[system:kcp:logical-cluster-admin,system:kcp:initializer:*,system:kcp:terminator:*]", "system:masters"},
	"authentication-config":                    {"", "authentication.yaml"},
	"authentication-token-webhook-config-file": {"", "webhook.kubeconfig"},
	"authentication-token-webhook-version":     {"v1beta1", "v1"},
	"authentication-token-webhook-cache-ttl":   {"2m0s", "1m"},
	"oidc-issuer-url":                          {"", "https://issuer"},
	"oidc-client-id":                           {"", "kcp"},
	"oidc-username-claim":                      {"sub", "email"},
	"oidc-username-prefix":                     {"", "oidc:"},
	"oidc-groups-claim":                        {"", "groups"},
	"oidc-groups-prefix":                       {"", "oidc:"},
	"oidc-required-claim":                      {"", "a=b"},
	"oidc-signing-algs":                        {"[RS256]", "ES256"},
	"oidc-ca-file":                             {"", "ca.crt"},
	"requestheader-username-headers":           {"[]", "X-Remote-User"},
	"requestheader-group-headers":              {"[]", "X-Remote-Group"},
	"requestheader-extra-headers-prefix":       {"[]", "X-Remote-Extra-"},
	"requestheader-client-ca-file":             {"", "ca.crt"},
	"requestheader-allowed-names":              {"[]", "front-proxy"},
	"enable-bootstrap-token-auth":              {"false", "true"},

	"service-account-issuer":               {"[https://kcp.default.svc]", "https://issuer"},
	"service-account-key-file":             {"[]", "sa.pub"},
	"service-account-signing-key-file":     {"", "sa.key"},
	"service-account-private-key-file":     {"", "sa.key"},
	"service-account-lookup":               {"true", "false"},
	"service-account-max-token-expiration": {"0s", "1h"},
	"root-ca-file":                         {"", "ca.crt"},

	"authorization-order":                          {"[AlwaysAllowGroups,AlwaysAllowPaths,RBAC,Webhook]", "RBAC"},
	"authorization-always-allow-paths":             {"[/healthz,/readyz,/livez]", "/metrics"},
	"authorization-webhook-config-file":            {"", "webhook.kubeconfig"},
	"authorization-webhook-version":                {"v1beta1", "v1"},
	"authorization-webhook-cache-authorized-ttl":   {"5m0s", "1m"},
	"authorization-webhook-cache-unauthorized-ttl": {"30s", "1m"},

	"etcd-servers":                      {"[embedded]", "https://etcd:2379"},
	"etcd-cafile":                       {"", "ca.crt"},
	"etcd-certfile":                     {"", "client.crt"},
	"etcd-keyfile":                      {"", "client.key"},
	"etcd-prefix":                       {"/registry", "/kcp"},
	"etcd-compaction-interval":          {"5m0s", "1m"},
	"embedded-etcd-directory":           {"", "/tmp/etcd"},
	"embedded-etcd-client-port":         {"2379", "12379"},
	"embedded-etcd-peer-port":           {"2380", "12380"},
	"embedded-etcd-wal-size-bytes":      {"0", "5000"},
	"embedded-etcd-quota-backend-bytes": {"0", "1000000"},
	"embedded-etcd-listen-metrics-urls": {"[]", "http://localhost:1"},
	"embedded-etcd-force-new-cluster":   {"false", "true"},
	"watch-cache":                       {"true", "false"},
	"encryption-provider-config":        {"", "encryption.yaml"},

	"logical-cluster-total-object-limit":         {"0", "100"},
	"logical-cluster-object-count-scan-interval": {"1m0s", "10s"},
	"conversion-cel-transformation-timeout":      {"1s", "2s"},

	"audit-policy-file":         {"", "policy.yaml"},
	"audit-log-path":            {"", "audit.log"},
	"audit-log-format":          {"json", "legacy"},
	"audit-log-version":         {"audit.k8s.io/v1", "audit.k8s.io/v1"},
	"audit-log-maxsize":         {"100", "1"},
	"audit-log-maxbackup":       {"100", "1"},
	"audit-log-maxage":          {"366", "1"},
	"audit-webhook-config-file": {"", "webhook.kubeconfig"},

	"tls-cert-file":                           {"", "tls.crt"},
	"tls-private-key-file":                    {"", "tls.key"},
	"tls-cipher-suites":                       {"[]", "TLS_AES_128_GCM_SHA256"},
	"tls-min-version":                         {"", "VersionTLS13"},
	"tls-sni-cert-key":                        {"[]", "a.crt,a.key"},
	"cors-allowed-origins":                    {"[]", "//example\\.com$"},
	"event-ttl":                               {"1h0m0s", "2h"},
	"profiling":                               {"true", "false"},
	"profiler-address":                        {"", "localhost:6060"},
	"tracing-config-file":                     {"", "tracing.yaml"},
	"goaway-chance":                           {"0", "0.01"},
	"request-timeout":                         {"1m0s", "10s"},
	"shutdown-delay-duration":                 {"0s", "1s"},
	"shutdown-send-retry-after":               {"false", "true"},
	"shutdown-watch-termination-grace-period": {"0s", "1s"},
	"livez-grace-period":                      {"0s", "1s"},
	"v":                                       {"2", "4"},
	"vmodule":                                 {"", "a=1"},
	"logging-format":                          {"text", "json"},
}

func TestFlags(t *testing.T) {
	for name, want := range flags {
		t.Run(name, func(t *testing.T) {
			o := NewOptions()
			fs := pflag.NewFlagSet("kcp", pflag.ContinueOnError)
			o.AddFlags(fs)
			flag := fs.Lookup(name)
			if flag == nil {
				t.Fatal("there is no such flag")
			}
			if flag.DefValue != want.byDefault {
				t.Errorf("the default is %q, want %q", flag.DefValue, want.byDefault)
			}
			if flag.Usage == "" {
				t.Error("there is no help for it")
			}
			if err := fs.Parse([]string{"--" + name + "=" + want.value}); err != nil {
				t.Errorf("%q does not parse: %v", want.value, err)
			}
		})
	}
}

func TestFlagsNotAccepted(t *testing.T) {
	for _, name := range []string{
		"runtime-config", "enable-admission-plugins", "disable-admission-plugins", "admission-control-config-file",
		"max-requests-inflight", "max-mutating-requests-inflight", "min-request-timeout",
		"advertise-address", "enable-priority-and-fairness", "egress-selector-config-file", "authorization-mode",
	} {
		if _, err := parse("--" + name + "=x"); err == nil || !strings.Contains(err.Error(), "unknown flag") {
			t.Errorf("--%s: %v, want an unknown flag", name, err)
		}
	}
}

func TestHelpSaysWhatHasNoEffect(t *testing.T) {
	o := NewOptions()
	fs := pflag.NewFlagSet("kcp", pflag.ContinueOnError)
	o.AddFlags(fs)
	for _, pattern := range slices.Concat(noEffectYet, notNeeded) {
		found := false
		fs.VisitAll(func(flag *pflag.Flag) {
			if matches([]string{pattern}, flag.Name) {
				found = true
				if !strings.HasSuffix(flag.Usage, NoEffectYet) && !strings.HasSuffix(flag.Usage, NotNeeded) {
					t.Errorf("the help of --%s does not say that it has no effect: %s", flag.Name, flag.Usage)
				}
			}
		})
		if !found {
			t.Errorf("there is no flag %s; its feature has come, or its name is misspelt", pattern)
		}
	}
}

func TestValidate(t *testing.T) {
	for name, tc := range map[string]struct {
		reason    string
		arguments []string
		// want is part of the only error; none if empty.
		want string
	}{
		"Defaults":          {"a server starts without any flags", nil, ""},
		"TestHarness":       {"this is how test suites start a server", []string{"--root-directory=d", "--secure-port=16443", "--embedded-etcd-client-port=1", "--embedded-etcd-peer-port=2", "--embedded-etcd-wal-size-bytes=5000", "--kubeconfig-path=d/admin.kubeconfig", "--audit-log-path=f", "--v=4", "--bind-address=127.0.0.1", "--token-auth-file=t", "--feature-gates=WatchList=true"}, ""},
		"FreePort":          {"port 0 is any free port", []string{"--secure-port=0", "--experimental-bind-free-port"}, ""},
		"FreeAndFixedPort":  {"one cannot have both", []string{"--experimental-bind-free-port"}, "--secure-port=0"},
		"Port":              {"ports end at 65535", []string{"--secure-port=70000"}, "--secure-port=70000 is not between"},
		"HalfACertificate":  {"a certificate is no use without its key", []string{"--tls-cert-file=x"}, "given together"},
		"TLSVersion":        {"a typo must not weaken TLS", []string{"--tls-min-version=VersionTLS9"}, "--tls-min-version"},
		"CipherSuite":       {"a typo must not change ciphers", []string{"--tls-cipher-suites=ROT13"}, "--tls-cipher-suites"},
		"UnknownBattery":    {"the known ones are named", []string{"--batteries-included=admin,solar"}, `unknown battery "solar", known are admin, metrics-viewer, user, workload-types, workspace-types`},
		"TwoSigns":          {"nobody knows what is meant", []string{"--batteries-included=+-user"}, `unknown battery "-user"`},
		"MixedBatteries":    {"names and changes contradict each other", []string{"--batteries-included=admin,+user"}, "mixes"},
		"UserNeedsAdmin":    {"the user is in the admin's kubeconfig", []string{"--batteries-included=user"}, "battery user needs battery admin"},
		"UserRemovedAdmin":  {"the same, by changes", []string{"--batteries-included=+user,-admin"}, "battery user needs battery admin"},
		"UnknownGate":       {"a misspelt gate is no gate", []string{"--feature-gates=WorkspaceMoutns=true"}, "WorkspaceMoutns"},
		"UnknownAuthorizer": {"a misspelt authorizer would silently be off", []string{"--authorization-order=RBAC,ABAC"}, `unknown authorizer "ABAC"`},
		"AuthorizerTwice":   {"the second one never decides", []string{"--authorization-order=RBAC,RBAC"}, "named twice"},
		"NoAuthorizer":      {"nobody could do anything", []string{"--authorization-order="}, "empty"},
		"NonRootShard":      {"shards find each other through the cache", []string{"--shard-name=alpha"}, "needs --cache-kubeconfig"},
		"AdminKubeconfig":   {"its host is replaced by the external one", []string{"--logical-cluster-admin-kubeconfig=k"}, "needs --shard-external-url"},
		"BaseURL":           {"a URL without a scheme names no server", []string{"--shard-base-url=kcp.example.com"}, "https://host:port"},
		"ShardName":         {"it becomes the name of an object", []string{"--shard-name=A_b", "--cache-kubeconfig=k"}, "--shard-name=A_b"},
		"MixedEtcd":         {"there is one store", []string{"--etcd-servers=embedded,https://etcd:2379"}, "mixes"},
		"EtcdCertificate":   {"a certificate is no use without its key", []string{"--etcd-servers=https://etcd:2379", "--etcd-certfile=x"}, "given together"},
		"EtcdCAEmbedded":    {"nothing is encrypted within a process", []string{"--etcd-cafile=x"}, "--etcd-servers"},
		"EtcdDirectory":     {"an external etcd keeps its own data", []string{"--etcd-servers=https://etcd:2379", "--embedded-etcd-directory=x"}, "--embedded-etcd-directory"},
		"ExternalEtcd":      {"an external etcd is fine", []string{"--etcd-servers=https://a:2379,https://b:2379", "--etcd-cafile=ca", "--etcd-certfile=c", "--etcd-keyfile=k"}, ""},
		"HeadersWithoutCA":  {"anybody could be anybody", []string{"--requestheader-username-headers=X-Remote-User"}, "needs --requestheader-client-ca-file"},
		"HeadersSameCA":     {"every client could be anybody", []string{"--requestheader-username-headers=X-Remote-User", "--requestheader-client-ca-file=ca", "--client-ca-file=ca"}, "--requestheader-allowed-names"},
		"HalfOIDC":          {"tokens for other clients are not for us", []string{"--oidc-issuer-url=https://issuer"}, "given together"},
		"TokenLife":         {"clients ask for ten minutes at least", []string{"--service-account-max-token-expiration=1m"}, "below 10m0s"},
		"CORS":              {"a pattern that matches evil-example.com too", []string{"--cors-allowed-origins=example.com"}, "--cors-allowed-origins"},
		"Goaway":            {"more would keep clients from working", []string{"--goaway-chance=0.5"}, "--goaway-chance"},
		"HomeLayout":        {"a misspelt layout is none", []string{"--home-workspaces-layout=bucket"}, "--home-workspaces-layout=bucket: it is rootless or buckets"},
		"Buckets":           {"the defaults are balanced", []string{"--home-workspaces-layout=buckets"}, ""},
		"BucketPrefix":      {"homes are below a child of root", []string{"--home-workspaces-layout=buckets", "--home-workspaces-root-prefix=root:a:b"}, "--home-workspaces-root-prefix=root:a:b"},
		"BucketPath":        {"and that is a path", []string{"--home-workspaces-layout=buckets", "--home-workspaces-root-prefix=root:A_b"}, "--home-workspaces-root-prefix"},
		"BucketLevels":      {"there is at least one", []string{"--home-workspaces-layout=buckets", "--home-workspaces-bucket-levels=0"}, "1 to 5 levels"},
		"BucketSize":        {"a name has letters", []string{"--home-workspaces-layout=buckets", "--home-workspaces-bucket-size=5"}, "1 to 4 letters"},
		"BucketsTooMany":    {"nobody could list them", []string{"--home-workspaces-layout=buckets", "--home-workspaces-bucket-size=3"}, "17576 buckets in one"},
		"BucketsCrowded":    {"nor what is in them", []string{"--home-workspaces-layout=buckets", "--home-workspaces-bucket-levels=1"}, "leave 3210 users to a bucket"},
		"BucketsEmpty":      {"and most would be empty", []string{"--home-workspaces-layout=buckets", "--home-workspaces-bucket-levels=3"}, "--home-workspaces-allow-unbalanced-buckets accepts that"},
		"BucketsAllowed":    {"who says so may have them", []string{"--home-workspaces-layout=buckets", "--home-workspaces-bucket-levels=3", "--home-workspaces-allow-unbalanced-buckets"}, ""},
		"BucketsBounds":     {"but not beyond what there can be", []string{"--home-workspaces-layout=buckets", "--home-workspaces-bucket-levels=6", "--home-workspaces-allow-unbalanced-buckets"}, "1 to 5 levels"},
		"BucketsUnused":     {"what is not used is not looked at", []string{"--home-workspaces-bucket-levels=3"}, ""},
		"HomeDelay":         {"clients would ask all the time", []string{"--home-workspaces-layout=buckets", "--home-workspaces-creation-delay-seconds=0"}, "--home-workspaces-creation-delay-seconds=0"},
		"EventTTL":          {"events would vanish at once", []string{"--event-ttl=0s"}, "--event-ttl"},
		"LogFormat":         {"an unknown format cannot be written", []string{"--logging-format=xml"}, "--logging-format"},
		"InMemoryElsewhere": {"what is elsewhere is not in memory", []string{"--in-memory", "--etcd-servers=http://127.0.0.1:2379"}, "--etcd-servers"},
		"InMemoryDirectory": {"memory has no directory", []string{"--in-memory", "--embedded-etcd-directory=etcd"}, "--embedded-etcd-directory"},
		"NoRootDirectory":   {"there is nowhere to put the database", []string{"--root-directory=", "--batteries-included=-admin"}, "--embedded-etcd-directory"},
		"NoRootForAdmin":    {"there is nowhere to put the kubeconfig", []string{"--root-directory=", "--embedded-etcd-directory=d"}, "--kubeconfig-path"},
		"NothingGenerated":  {"all that has to lie somewhere has a path", []string{"--root-directory=", "--embedded-etcd-directory=d", "--kubeconfig-path=k", "--authentication-admin-token-path=t"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			o, err := parse(tc.arguments...)
			if err != nil {
				t.Fatal(err)
			}
			errs := o.Validate()
			switch {
			case tc.want == "" && len(errs) > 0:
				t.Errorf("%s: %v", tc.reason, errs)
			case tc.want != "" && (len(errs) != 1 || !strings.Contains(errs[0].Error(), tc.want)):
				t.Errorf("%s: got %v, want one error with %q", tc.reason, utilerrors.NewAggregate(errs), tc.want)
			}
		})
	}
}

func TestBatteries(t *testing.T) {
	for name, tc := range map[string]struct {
		reason   string
		included []string
		want     sets.Set[Battery]
	}{
		"Default": {"without a wish", names(defaultBatteries), sets.New(AdminBattery, WorkspaceTypesBattery)},
		"Names":   {"names replace the default", []string{"admin", "user"}, sets.New(AdminBattery, UserBattery)},
		"Changes": {"changes start from the default", []string{"+user", "-workspace-types"}, sets.New(AdminBattery, UserBattery)},
		"None":    {"nothing at all is a set, too", []string{""}, sets.New[Battery]()},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := (&BatteryOptions{Included: tc.included}).parse()
			if err != nil {
				t.Fatalf("%s: %v", tc.reason, err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", tc.reason, diff)
			}
		})
	}
}

func TestCompleteDefaults(t *testing.T) {
	c := complete(t)
	root, err := filepath.Abs(".kcp")
	if err != nil {
		t.Fatal(err)
	}
	for what, pair := range map[string][2]string{
		"root directory": {c.RootDirectory, root},
		"kubeconfig":     {c.Admin.KubeconfigPath, filepath.Join(root, "admin.kubeconfig")},
		"token hash":     {c.Admin.TokenHashPath, filepath.Join(root, ".admin-token-store")},
		"etcd":           {c.Etcd.Directory, filepath.Join(root, "etcd-server")},
		"certificate":    {c.Serving.CertDirectory, root},
		"listen address": {c.ListenAddress(), "0.0.0.0:6443"},
		"base URL":       {c.URLsAt(6443).Base, "https://127.0.0.1:6443"},
		"external URL":   {c.URLsAt(6443).External, "https://127.0.0.1:6443"},
	} {
		if pair[0] != pair[1] {
			t.Errorf("the %s is %q, want %q", what, pair[0], pair[1])
		}
	}
	if !c.Etcd.Embedded || !c.Logging.Quiet || !c.Shard.Root || len(c.WithoutEffect) > 0 {
		t.Errorf("embedded %t, quiet %t, root %t, without effect %v", c.Etcd.Embedded, c.Logging.Quiet, c.Shard.Root, c.WithoutEffect)
	}
	if diff := cmp.Diff([]string{"https://kcp.default.svc"}, c.Authentication.APIAudiences); diff != "" {
		t.Errorf("audiences: (-want +got)\n%s", diff)
	}
}

func TestCompleteURLs(t *testing.T) {
	c := complete(t, "--bind-address=::1", "--shard-external-url=https://kcp.example.com/")
	want := URLs{Base: "https://[::1]:7443", External: "https://kcp.example.com", VirtualWorkspace: "https://[::1]:7443"}
	if diff := cmp.Diff(want, c.URLsAt(7443)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if c.Serving.ListensBeyondLoopback() {
		t.Error("::1 is reached from other machines")
	}
	if !complete(t).Serving.ListensBeyondLoopback() {
		t.Error("0.0.0.0 is not reached from other machines")
	}
}

func TestCompleteNamesFlagsWithoutEffect(t *testing.T) {
	c := complete(t, "--oidc-issuer-url=https://issuer", "--oidc-client-id=kcp", "--enable-leader-election=true", "--embedded-etcd-client-port=1", "--secure-port=0")
	want := []string{"--enable-leader-election", "--oidc-client-id", "--oidc-issuer-url"}
	if diff := cmp.Diff(want, c.WithoutEffect); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestCompleteWithoutFlags(t *testing.T) {
	o := NewOptions()
	o.RootDirectory = t.TempDir()
	o.Serving.BindAddress = net.IPv4(127, 0, 0, 1)
	o.Serving.BindPort = 0
	c, err := o.Complete()
	if err != nil {
		t.Fatalf("options that never were flags cannot be completed: %v", err)
	}
	if c.Serving.Port != 0 || c.RootDirectory != o.RootDirectory {
		t.Errorf("port %d, root directory %s", c.Serving.Port, c.RootDirectory)
	}
}

func TestCompleteLogging(t *testing.T) {
	for name, tc := range map[string]struct {
		reason         string
		arguments      []string
		quiet, classic bool
	}{
		"Default": {"nobody asked for a log", nil, true, false},
		"Level2":  {"the default, asked for: as much, but in the open", []string{"-v=2"}, true, true},
		"Level4":  {"more than the default is everything", []string{"--v=4"}, false, true},
		"Module":  {"somebody looks for something in a library", []string{"--vmodule=a=1"}, false, true},
		"Text":    {"the default format, asked for", []string{"--logging-format=text"}, true, true},
		"JSON":    {"a program reads it", []string{"--logging-format=json"}, false, true},
	} {
		t.Run(name, func(t *testing.T) {
			logging := complete(t, tc.arguments...).Logging
			if logging.Quiet != tc.quiet || logging.Classic != tc.classic {
				t.Errorf("%s: quiet %t, classic %t; want %t, %t", tc.reason, logging.Quiet, logging.Classic, tc.quiet, tc.classic)
			}
		})
	}
}

func TestFeatureGates(t *testing.T) {
	t.Cleanup(func() {
		if err := features.Set(map[string]bool{string(features.WorkspaceMounts): false}); err != nil {
			t.Error(err)
		}
	})
	if features.Enabled(features.WorkspaceMounts) {
		t.Fatal("a feature in alpha is on")
	}
	o, err := parse("--feature-gates=WorkspaceMounts=true")
	if err != nil {
		t.Fatal(err)
	}
	if errs := o.Validate(); len(errs) > 0 || features.Enabled(features.WorkspaceMounts) {
		t.Errorf("checking a gate sets it, or fails: %v", errs)
	}
	if _, err := o.Complete(); err != nil || !features.Enabled(features.WorkspaceMounts) {
		t.Errorf("a gate is not set: %v", err)
	}
	want := strings.Fields("APIResponseCompression=true CacheAPIs=false ConsistentListFromCache=true ContextualLogging=true " +
		"EnableDeprecatedAPIExportVirtualWorkspacesUrls=false ListFromCacheSnapshot=false LoggingBetaOptions=true " +
		"LogicalClusterMigration=false OpenAPIEnums=true StorageVersionAPI=false StreamingCollectionEncodingToJSON=true " +
		"StreamingCollectionEncodingToProtobuf=true WatchList=true WorkspaceAuthentication=false WorkspaceMounts=false")
	if diff := cmp.Diff(want, shownGates()); diff != "" {
		t.Errorf("gates and defaults: (-want +got)\n%s", diff)
	}
}
