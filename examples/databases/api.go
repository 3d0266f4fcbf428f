package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/scheme"
)

// Database asks for a database.
type Database struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   DatabaseSpec   `json:"spec,omitempty"`
	Status DatabaseStatus `json:"status,omitempty"`
}

// DatabaseSpec is what a tenant asks for.
type DatabaseSpec struct {
	Engine string `json:"engine,omitempty"`
}

// DatabaseStatus is what the tenant got.
type DatabaseStatus struct {
	// Host is where the database is.
	Host string `json:"host,omitempty"`
	// Secret has the credentials, in the namespace of the Database.
	Secret string `json:"secret,omitempty"`
	// Message says what keeps the Database from being served.
	Message string `json:"message,omitempty"`
}

// DatabaseList is a list of Databases.
type DatabaseList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Database `json:"items"`
}

// DeepCopyObject returns a copy. Real APIs have it generated.
func (d *Database) DeepCopyObject() runtime.Object {
	out := *d
	d.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return &out
}

// DeepCopyObject returns a copy.
func (l *DatabaseList) DeepCopyObject() runtime.Object {
	out := *l
	l.ListMeta.DeepCopyInto(&out.ListMeta)
	out.Items = make([]Database, 0, len(l.Items))
	for i := range l.Items {
		item, _ := l.Items[i].DeepCopyObject().(*Database)
		out.Items = append(out.Items, *item)
	}
	return &out
}

var databases = &scheme.Builder{GroupVersion: schema.GroupVersion{Group: "databases.example.dev", Version: "v1"}}

func init() { databases.Register(&Database{}, &DatabaseList{}) }
