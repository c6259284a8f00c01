import { groupBy } from '../lib/group-by.js'

/** Finds the workloads that made pods. Pure. @import { Sample } from './prometheus.js' */

/**
 * @typedef {object} Workload
 * @property {string} name
 * @property {string} kind Deployment, StatefulSet, DaemonSet, Job, ReplicaSet; `pods`: it is not known, and the name is that of
 *   pods without a suffix
 * @property {boolean} isByOwner false: the name was cut from that of a pod
 */

// Suffixes that controllers give to pods; they have no vowels: https://github.com/kubernetes/apimachinery/blob/master/pkg/util/rand/rand.go
const LETTERS = '[bcdfghjklmnpqrstvwxz2456789]'
const OF_DEPLOYMENT = new RegExp(`^(.+)-${LETTERS}{6,10}-${LETTERS}{5}$`)
const OF_STATEFUL_SET = /^(.+)-\d+$/
const OF_DAEMON_SET = new RegExp(`^(.+)-${LETTERS}{5}$`)
const HASH_OF_REPLICA_SET = /-[a-z0-9]+$/
/** A CronJob appends to the name of a job its time, in minutes since the epoch. */
const TIME_OF_JOB = /-\d{8,}$/

/**
 * Creates a finder of the workload of a pod: by its owners, else by its name. A ReplicaSet whose owner is not known is a workload,
 * without its hash; a Job is one without the time that a CronJob gave it.
 * @param {{ podOwners: Sample[], replicaSetOwners: Sample[] }} owners of kube-state-metrics; empty: it is not scraped
 * @returns {(pod: string) => Workload}
 */
export function createWorkloadFinder({ podOwners, replicaSetOwners }) {
  const ofReplicaSets = new Map(replicaSetOwners.map(({ labels }) => [labels.replicaset, labels]))
  const ofPods = new Map(podOwners.map(({ labels }) => [labels.pod, labels]))
  return pod => {
    const { owner_kind: kind, owner_name: name } = ofPods.get(pod) ?? {}
    // kube-state-metrics writes `<none>` for a pod without an owner.
    if (!kind || !name || kind.startsWith('<')) return parsePodName(pod)
    if (kind !== 'ReplicaSet')
      return { name: kind === 'Job' ? name.replace(TIME_OF_JOB, '') : name, kind, isByOwner: true }
    const owner = ofReplicaSets.get(name)
    if (owner?.owner_name && !owner.owner_kind?.startsWith('<'))
      return { name: owner.owner_name, kind: owner.owner_kind, isByOwner: true }
    return { name: name.replace(HASH_OF_REPLICA_SET, ''), kind: 'ReplicaSet', isByOwner: true }
  }
}

/**
 * Makes a workload of the name of a pod, without the suffix that a controller gave it, if it has one.
 * @param {string} pod
 * @returns {Workload}
 */
export function parsePodName(pod) {
  const name = [OF_DEPLOYMENT, OF_STATEFUL_SET, OF_DAEMON_SET].map(pattern => pattern.exec(pod)?.[1]).find(Boolean)
  return { name: name ?? pod, kind: 'pods', isByOwner: false }
}

/**
 * Groups containers by workload and name.
 * @template {{ pod: string, container: string }} T
 * @param {T[]} containers
 * @param {(pod: string) => Workload} find
 * @returns the groups, in the order of their first containers
 */
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
