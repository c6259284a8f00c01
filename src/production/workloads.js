import { groupBy } from '../lib/group-by.js'

/** Pods and the workloads that made them. Pure. @import { Sample } from './prometheus.js' */

/**
 * @typedef {object} Workload
 * @property {string} name
 * @property {string} kind Deployment, StatefulSet, DaemonSet, Job; `pods`: by their names alone
 * @property {boolean} isByOwner false: the name of a pod was cut at its suffix
 */

// Suffixes that controllers give to pods; they have no vowels: https://github.com/kubernetes/apimachinery/blob/master/pkg/util/rand/rand.go
const LETTERS = '[bcdfghjklmnpqrstvwxz2456789]'
const OF_DEPLOYMENT = new RegExp(`^(.+)-${LETTERS}{6,10}-${LETTERS}{5}$`)
const OF_STATEFUL_SET = /^(.+)-\d+$/
const OF_DAEMON_SET = new RegExp(`^(.+)-${LETTERS}{5}$`)
const HASH_OF_REPLICA_SET = /-[a-z0-9]+$/
/** A CronJob names its jobs by the minute of their time. */
const TIME_OF_JOB = /-\d{8,}$/

/**
 * Makes what finds the workload of a pod.
 * @param {{ podOwners: Sample[], replicaSetOwners: Sample[] }} owners of kube-state-metrics; empty: it is not there
 * @returns {(pod: string) => Workload}
 */
export function createWorkloadFinder({ podOwners, replicaSetOwners }) {
  const ofReplicaSets = new Map(replicaSetOwners.map(({ labels }) => [labels.replicaset, labels]))
  const ofPods = new Map(podOwners.map(({ labels }) => [labels.pod, labels]))
  return pod => {
    const { owner_kind: kind, owner_name: name } = ofPods.get(pod) ?? {}
    // A pod without an owner has `<none>` for it.
    if (!kind || !name || kind.startsWith('<')) return parsePodName(pod)
    if (kind !== 'ReplicaSet')
      return { name: kind === 'Job' ? name.replace(TIME_OF_JOB, '') : name, kind, isByOwner: true }
    const owner = ofReplicaSets.get(name)
    if (owner?.owner_name && !owner.owner_kind?.startsWith('<'))
      return { name: owner.owner_name, kind: owner.owner_kind, isByOwner: true }
    return { name: name.replace(HASH_OF_REPLICA_SET, ''), kind: 'ReplicaSet', isByOwner: true }
  }
}

/** Cuts the suffix of a controller. @param {string} pod @returns {Workload} */
export function parsePodName(pod) {
  const name = [OF_DEPLOYMENT, OF_STATEFUL_SET, OF_DAEMON_SET].map(pattern => pattern.exec(pod)?.[1]).find(Boolean)
  return { name: name ?? pod, kind: 'pods', isByOwner: false }
}

/** Groups containers by workload. @template {{ pod: string, container: string }} T @param {T[]} containers @param {(pod: string) => Workload} find */
export function groupByWorkload(containers, find) {
  const ofWorkloads = containers.map(container => ({ container, workload: find(container.pod) }))
  const groups = groupBy(
    ofWorkloads,
    ({ container, workload }) => `${workload.kind}/${workload.name}/${container.container}`,
  )
  return [...groups.values()].map(same => ({
    workload: same[0].workload,
    containers: same.map(({ container }) => container),
  }))
}
