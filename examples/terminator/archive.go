package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
)

// archive is a folder of ConfigMaps, as <cluster>/<namespace>/<name>. What the server accepts
// as their names cannot lead out of it.
type archive string

// add writes a ConfigMap, all of it or nothing. It may have been written before.
func (a archive) add(cluster string, configMap *corev1.ConfigMap) error {
	kept := &corev1.ConfigMap{Data: configMap.Data, BinaryData: configMap.BinaryData}
	kept.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	kept.Name, kept.Namespace, kept.Labels = configMap.Name, configMap.Namespace, configMap.Labels
	content, err := json.MarshalIndent(kept, "", "  ")
	if err != nil {
		return err
	}
	folder := filepath.Join(string(a), cluster, configMap.Namespace)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	if err := replace(folder, configMap.Name, append(content, '\n')); err != nil {
		return fmt.Errorf("archiving %s/%s of %s: %w", configMap.Namespace, configMap.Name, cluster, err)
	}
	return nil
}

// replace writes a file under another name, and renames it when it is on the disk.
func replace(folder, name string, content []byte) error {
	// Names of ConfigMaps have no capitals.
	file, err := os.CreateTemp(folder, "PARTIAL-")
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(file.Name()) }()
	defer func() { _ = file.Close() }()
	if _, err := file.Write(content); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return err
	}
	return os.Rename(file.Name(), filepath.Join(folder, name))
}
