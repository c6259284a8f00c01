/** Finds the workloads that made pods. Pure. @import { Sample } from './prometheus.js' */

/**
 * @typedef {object} Workload
 * @property {string} name
 * @property {string} kind Deployment, StatefulSet, DaemonSet, Job, ReplicaSet; `pods`: it is not known, and the name is that of
 *   pods without a suffix
 * @property {boolean} isByOwner false: the name was cut from that of a pod
 */

// Controllers give pods suffixes without vowels: https://github.com/kubernetes/apimachinery/blob/master/pkg/util/rand/rand.go
const LETTERS = '[bcdfghjklmnpqrstvwxz2456789]'
const DEPLOYMENT_POD = new RegExp(`^(.+)-${LETTERS}{6,10}-${LETTERS}{5}$`)
const STATEFUL_SET_POD = /^(.+)-\d+$/
const DAEMON_SET_POD = new RegExp(`^(.+)-${LETTERS}{5}$`)
const REPLICA_SET_HASH = /-[a-z0-9]+$/
/** A CronJob appends to the name of a job its time, in minutes since the epoch. */
const JOB_TIME = /-\d{8,}$/

/**
 * Creates a finder of the workload of a pod: by its owners, else by its name (`parsePodName`). The name of a ReplicaSet without a
 * known owner is cut before its hash, and that of a Job before the time that a CronJob gave it.
 * @param {{ podOwners: Sample[], replicaSetOwners: Sample[] }} owners of kube-state-metrics; []: it is not scraped
 * @returns {(pod: string) => Workload}
 */
export function createWorkloadFinder({ podOwners, replicaSetOwners }) {
  const labelsByReplicaSet = new Map(replicaSetOwners.map(({ labels }) => [labels.replicaset, labels]))
  const labelsByPod = new Map(podOwners.map(({ labels }) => [labels.pod, labels]))
  return pod => {
    const { owner_kind: kind, owner_name: name } = labelsByPod.get(pod) ?? {}
    // kube-state-metrics writes `<none>` for a pod without an owner.
    if (!kind || !name || kind.startsWith('<')) return parsePodName(pod)
    if (kind === 'Job') return { name: name.replace(JOB_TIME, ''), kind, isByOwner: true }
    if (kind !== 'ReplicaSet') return { name, kind, isByOwner: true }
    const owner = labelsByReplicaSet.get(name)
    if (owner?.owner_name && !owner.owner_kind?.startsWith('<'))
      return { name: owner.owner_name, kind: owner.owner_kind, isByOwner: true }
    return { name: name.replace(REPLICA_SET_HASH, ''), kind: 'ReplicaSet', isByOwner: true }
  }
}

/**
 * Parses a workload from the name of a pod: the name without the suffix of a controller, if it has one.
 * @param {string} pod
 * @returns {Workload} kind: `pods`, since the name does not say which controller it was
 */
export function parsePodName(pod) {
  const name = [DEPLOYMENT_POD, STATEFUL_SET_POD, DAEMON_SET_POD].map(pattern => pattern.exec(pod)?.[1]).find(Boolean)
  return { name: name ?? pod, kind: 'pods', isByOwner: false }
}
