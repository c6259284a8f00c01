import { rmSync } from 'node:fs'
import path from 'node:path'
import { atExit } from '../lib/at-exit.js'
import { GENERATOR } from '../model/sidecar-contract.js'
import { SERVICES as PARITY_SERVICES } from '../parity/credentials.js'
import { estimatePlanSeconds } from '../plan/plan.js'
import { issueCertificates } from './issue-certificates.js'

/**
 * @import { Plan, Topology } from '../model/types.ts'
 * @import { Ledger } from '../node/ledger.js'
 */

const KEY_TYPES = /** @type {const} */ (['ecdsa-p256', 'rsa-2048'])
// A day, and of long plans as many times their estimate and an hour: longer warm-ups and repeated windows make at most 2.3
// times of it (src/run/rounds.js).
const LIFE = { leastMs: 24 * 3600 * 1000, times: 3, moreMs: 3600 * 1000 }

/**
 * Makes the certificates of a run in the folder of its ledger, which only this user can read: keys must not be among the
 * results. They are removed when this process ends, too.
 * @param {{ ledger: Ledger, plan: Plan, topologies: Record<string, Topology> }} options
 * @returns {Promise<{ certificates: string, close: (options: { retain: boolean }) => void }>} certificates: of all key types;
 *   close: removes them, unless services that read them are retained
 */
export async function openCertificates({ ledger, plan, topologies }) {
  const keys = path.join(ledger.folder, 'keys')
  const certificates = path.join(keys, 'certificates')
  const removeKeys = () => rmSync(keys, { recursive: true, force: true })
  const keepKeys = atExit(removeKeys)
  const names = Object.values(topologies).flatMap(({ services }) => services.map(({ name }) => name))
  await issueCertificates({
    certificates,
    names: [...new Set([GENERATOR, ...PARITY_SERVICES, ...names])],
    keyTypes: KEY_TYPES.filter(
      keyType => keyType === 'ecdsa-p256' || plan.arms.some(arm => arm.conditions.tls === keyType),
    ),
    lifeMs: findLifeMs(plan),
  })
  return {
    certificates,
    close({ retain }) {
      keepKeys()
      if (!retain) removeKeys()
    },
  }
}

/**
 * How long certificates are valid: longer than the run can take.
 * @param {Parameters<typeof estimatePlanSeconds>[0]} plan
 */
export function findLifeMs(plan) {
  return Math.max(LIFE.leastMs, LIFE.times * estimatePlanSeconds(plan) * 1000 + LIFE.moreMs)
}
