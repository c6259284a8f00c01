import { rmSync } from 'node:fs'
import path from 'node:path'
import { SERVICES as PARITY_SERVICES } from '../certificates/credentials.js'
import { issueCertificates } from '../certificates/issue-certificates.js'
import { runAtExit } from '../lib/run-at-exit.js'
import { GENERATOR } from '../model/sidecar-contract.js'
import { estimateMostSeconds, estimatePlanSeconds } from '../plan/plan.js'
import { createArmTopology } from '../services/topology.js'

/** @import { Ledger, Plan, Topology } from '../model/types.ts' */

const KEY_TYPES = /** @type {const} */ (['ecdsa-p256', 'rsa-2048'])
// A run takes at most 2.3 times its estimate, with longer warm-ups and repeated windows (src/run/rounds.js).
const LIFE = { leastMs: 24 * 3600 * 1000, times: 3, moreMs: 3600 * 1000 }

/**
 * @typedef {object} IssueOptions
 * @property {Ledger} ledger
 * @property {Plan} plan
 * @property {Record<string, Topology>} topologies by the name of the link
 * @property {boolean} [hasAuthorityKey] also write the authority's key, by which sidecars have their own keys certified
 */

/**
 * Issues the certificates of a run's services and load into the folder of its ledger, which only this user can read, since keys
 * must not be among the results.
 * @param {IssueOptions} options
 * @returns {Promise<{ certificates: string, close: (options: { retain: boolean }) => void }>} certificates: their folder;
 *   close: removes it, unless `retain` keeps it for services that stay; without `close`, it is removed when this process exits
 * @throws {BenchError} if they cannot be written: what was written is then removed
 */
export async function issueRunCertificates({ ledger, plan, topologies, hasAuthorityKey }) {
  const keys = path.join(ledger.folder, 'keys')
  const certificates = path.join(keys, 'certificates')
  const removeKeys = () => rmSync(keys, { recursive: true, force: true })
  const cancelRemoval = runAtExit(removeKeys)
  const close = (/** @type {{ retain: boolean }} */ { retain }) => {
    cancelRemoval()
    if (!retain) removeKeys()
  }
  const topologiesOfRun = [...Object.values(topologies), ...plan.arms.map(arm => createArmTopology(arm, topologies))]
  const names = topologiesOfRun.flatMap(({ services }) => services.map(({ name, copyOf }) => copyOf ?? name))
  const isRotated = plan.arms.some(({ conditions }) => conditions.changed === 'certificate')
  await issueCertificates({
    certificates,
    names: [...new Set([GENERATOR, ...PARITY_SERVICES, ...names])],
    rotated: isRotated ? [...new Set(names)] : [],
    keyTypes: KEY_TYPES.filter(type => type === 'ecdsa-p256' || plan.arms.some(arm => arm.conditions.tls === type)),
    lifeMs: computeLifeMs(plan),
    hasAuthorityKey,
  }).catch(error => {
    close({ retain: false })
    throw error
  })
  return { certificates, close }
}

/**
 * Computes for how long certificates are valid: LIFE.leastMs or, if longer, LIFE.times the longest estimate of the run and
 * LIFE.moreMs.
 * @param {Parameters<typeof estimatePlanSeconds>[0]} plan
 * @returns {number} milliseconds
 */
export function computeLifeMs(plan) {
  const seconds = estimateMostSeconds(plan) ?? estimatePlanSeconds(plan)
  return Math.max(LIFE.leastMs, LIFE.times * seconds * 1000 + LIFE.moreMs)
}
