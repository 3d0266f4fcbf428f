// Command notes keeps notes in a workspace: each a ConfigMap, by client-go.
//
//	notes root:acme:red buy milk
package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: notes WORKSPACE WORD…")
		os.Exit(2)
	}
	if err := run(context.Background(), os.Args[1], strings.Join(os.Args[2:], " ")); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, workspace, note string) error {
	client, err := clientFor(workspace)
	if err != nil {
		return err
	}
	notes := client.CoreV1().ConfigMaps("default")
	_, err = notes.Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{GenerateName: "note-", Labels: map[string]string{"app": "notes"}},
		Data:       map[string]string{"text": note},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	all, err := notes.List(ctx, metav1.ListOptions{LabelSelector: "app=notes"})
	if err != nil {
		return err
	}
	for _, note := range all.Items {
		fmt.Println(note.Data["text"])
	}
	return nil
}

// clientFor returns a client for one workspace: the server of the kubeconfig, and the path
// of the workspace.
func clientFor(workspace string) (*kubernetes.Clientset, error) {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	base, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(
		rules, &clientcmd.ConfigOverrides{CurrentContext: "base"}).ClientConfig()
	if err != nil {
		return nil, err
	}
	config := rest.CopyConfig(base)
	config.Host += "/clusters/" + workspace
	return kubernetes.NewForConfig(config)
}
