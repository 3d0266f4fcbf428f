package workload

import (
	controllerrevision "k8s.io/kubernetes/pkg/registry/apps/controllerrevision/storage"
	daemonset "k8s.io/kubernetes/pkg/registry/apps/daemonset/storage"
	deployment "k8s.io/kubernetes/pkg/registry/apps/deployment/storage"
	replicaset "k8s.io/kubernetes/pkg/registry/apps/replicaset/storage"
	statefulset "k8s.io/kubernetes/pkg/registry/apps/statefulset/storage"
	horizontalpodautoscaler "k8s.io/kubernetes/pkg/registry/autoscaling/horizontalpodautoscaler/storage"
	cronjob "k8s.io/kubernetes/pkg/registry/batch/cronjob/storage"
	job "k8s.io/kubernetes/pkg/registry/batch/job/storage"
)

func (a *assembly) addApps() error {
	const group = "apps"
	deployments, err := deployment.NewStorage(a.config.RESTOptions)
	if err != nil {
		return err
	}
	replicaSets, err := replicaset.NewStorage(a.config.RESTOptions)
	if err != nil {
		return err
	}
	statefulSets, err := statefulset.NewStorage(a.config.RESTOptions)
	if err != nil {
		return err
	}
	daemonSets, daemonSetStatus, err := daemonset.NewREST(a.config.RESTOptions)
	if err != nil {
		return err
	}
	revisions, err := controllerrevision.NewREST(a.config.RESTOptions)
	if err != nil {
		return err
	}
	a.add(group, "deployments", deployments.Deployment.Store, deployments.Deployment,
		Storages{"status": deployments.Status, "scale": deployments.Scale})
	a.add(group, "replicasets", replicaSets.ReplicaSet.Store, replicaSets.ReplicaSet,
		Storages{"status": replicaSets.Status, "scale": replicaSets.Scale})
	a.add(group, "statefulsets", statefulSets.StatefulSet.Store, statefulSets.StatefulSet,
		Storages{"status": statefulSets.Status, "scale": statefulSets.Scale})
	a.add(group, "daemonsets", daemonSets.Store, daemonSets, Storages{"status": daemonSetStatus})
	a.add(group, "controllerrevisions", revisions.Store, revisions, nil)
	return nil
}

func (a *assembly) addBatch() error {
	const group = "batch"
	jobs, jobStatus, err := job.NewREST(a.config.RESTOptions)
	if err != nil {
		return err
	}
	cronJobs, cronJobStatus, err := cronjob.NewREST(a.config.RESTOptions)
	if err != nil {
		return err
	}
	a.add(group, "jobs", jobs.Store, jobs, Storages{"status": jobStatus})
	a.add(group, "cronjobs", cronJobs.Store, cronJobs, Storages{"status": cronJobStatus})
	return nil
}

func (a *assembly) addAutoscaling() error {
	autoscalers, status, err := horizontalpodautoscaler.NewREST(a.config.RESTOptions)
	if err != nil {
		return err
	}
	a.add("autoscaling", "horizontalpodautoscalers", autoscalers.Store, autoscalers, Storages{"status": status})
	return nil
}
