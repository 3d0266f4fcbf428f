package workloads

import (
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/forkless/kcp/internal/servertest"
)

// TestAllocations is about what services are given: nothing twice in a workspace, however
// many ask at once, and the same again in another.
func TestAllocations(t *testing.T) {
	// 14 addresses and 14 ports: whoever gets one twice is found out, and so is a leak.
	server := servertest.Start(t, battery, "--service-cluster-ip-range=10.9.8.0/28", "--service-node-port-range=31000-31013")
	const fits = 14
	for _, name := range []string{"one", "other"} {
		client := workspace(t, server, name)
		for round := range 2 {
			var (
				mu      sync.Mutex
				refused []error
				ips     = map[string]bool{}
				ports   = map[int32]bool{}
				group   sync.WaitGroup
			)
			for i := range fits + 6 {
				group.Go(func() {
					created, err := createService(t.Context(), client, service(fmt.Sprintf("s%d", i), corev1.ServiceTypeNodePort))
					mu.Lock()
					defer mu.Unlock()
					if err != nil {
						refused = append(refused, err)
						return
					}
					if ips[created.Spec.ClusterIP] || ports[created.Spec.Ports[0].NodePort] {
						t.Errorf("%s and %d are not one service's alone", created.Spec.ClusterIP, created.Spec.Ports[0].NodePort)
					}
					ips[created.Spec.ClusterIP], ports[created.Spec.Ports[0].NodePort] = true, true
				})
			}
			group.Wait()
			if len(ips) != fits {
				t.Errorf("workspace %s, round %d: %d services where %d fit; refused: %v", name, round, len(ips), fits, refused)
			}
			for _, err := range refused {
				if !strings.Contains(err.Error(), "range is full") {
					t.Errorf("refused, and not because the range is full: %v", err)
				}
			}
			for ip := range ips {
				if !netip.MustParsePrefix("10.9.8.0/28").Contains(netip.MustParseAddr(ip)) {
					t.Errorf("%s is not in the range", ip)
				}
			}
			for i := range fits + 6 {
				err := client.CoreV1().Services("default").Delete(t.Context(), fmt.Sprintf("s%d", i), metav1.DeleteOptions{})
				if err != nil && !apierrors.IsNotFound(err) {
					t.Fatal(err)
				}
			}
		}
	}
}

// TestServices is about one service after the other.
func TestServices(t *testing.T) {
	server := servertest.Start(t, battery)
	client := workspace(t, server, "services")
	services := client.CoreV1().Services("default")

	fixed := service("fixed", corev1.ServiceTypeClusterIP)
	fixed.Spec.ClusterIP = "10.0.0.10"
	got := must[*corev1.Service](t)(createService(t.Context(), client, fixed))
	if got.Spec.ClusterIP != "10.0.0.10" || got.Spec.Type != corev1.ServiceTypeClusterIP || len(got.Spec.IPFamilies) != 1 {
		t.Errorf("what was asked for is not what there is: %+v", got.Spec)
	}
	second := service("second", corev1.ServiceTypeClusterIP)
	second.Spec.ClusterIP = "10.0.0.10"
	if _, err := createService(t.Context(), client, second); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "already allocated") {
		t.Errorf("an address that another service has: %v", err)
	}
	second.Spec.ClusterIP = "192.168.0.1"
	if _, err := createService(t.Context(), client, second); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "not in the valid range") {
		t.Errorf("an address from elsewhere: %v", err)
	}
	headless := service("headless", corev1.ServiceTypeClusterIP)
	headless.Spec.ClusterIP = corev1.ClusterIPNone
	if got := must[*corev1.Service](t)(createService(t.Context(), client, headless)); got.Spec.ClusterIP != corev1.ClusterIPNone {
		t.Errorf("a headless service has %s", got.Spec.ClusterIP)
	}

	// A change of type takes ports, and gives them back.
	got.Spec.Type = corev1.ServiceTypeLoadBalancer
	got = must[*corev1.Service](t)(services.Update(t.Context(), got, metav1.UpdateOptions{}))
	port := got.Spec.Ports[0].NodePort
	if port < 30000 || port > 32767 {
		t.Errorf("a load balancer has the port %d", port)
	}
	got.Spec.Type, got.Spec.Ports[0].NodePort = corev1.ServiceTypeClusterIP, 0
	if got = must[*corev1.Service](t)(services.Update(t.Context(), got, metav1.UpdateOptions{})); got.Spec.Ports[0].NodePort != 0 {
		t.Errorf("a service without ports on nodes has %d", got.Spec.Ports[0].NodePort)
	}
	again := service("again", corev1.ServiceTypeNodePort)
	again.Spec.Ports[0].NodePort = port
	must[*corev1.Service](t)(createService(t.Context(), client, again))

	// Dry runs take nothing.
	dry := service("dry", corev1.ServiceTypeClusterIP)
	dry.Spec.ClusterIP = "10.0.0.11"
	must[*corev1.Service](t)(services.Create(t.Context(), dry, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}))
	must[*corev1.Service](t)(createService(t.Context(), client, dry))

	// What is behind a service goes with it, by whatever request that goes.
	endpoints := client.CoreV1().Endpoints("default")
	must[*corev1.Endpoints](t)(endpoints.Create(t.Context(), &corev1.Endpoints{ObjectMeta: metav1.ObjectMeta{Name: "dry"}}, metav1.CreateOptions{}))
	kept := must[*corev1.Service](t)(services.Get(t.Context(), "dry", metav1.GetOptions{}))
	kept.Finalizers = []string{"example.org/wait"}
	kept = must[*corev1.Service](t)(services.Update(t.Context(), kept, metav1.UpdateOptions{}))
	if err := services.Delete(t.Context(), "dry", metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	kept = must[*corev1.Service](t)(services.Get(t.Context(), kept.Name, metav1.GetOptions{}))
	kept.Finalizers = nil
	must[*corev1.Service](t)(services.UpdateStatus(t.Context(), kept, metav1.UpdateOptions{}))
	if _, err := endpoints.Get(t.Context(), "dry", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the endpoints of a service that is gone: %v", err)
	}
	freed := service("freed", corev1.ServiceTypeClusterIP)
	freed.Spec.ClusterIP = "10.0.0.11"
	must[*corev1.Service](t)(createService(t.Context(), client, freed))
}
