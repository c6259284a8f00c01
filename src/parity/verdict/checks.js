import { nameOfContender } from '../../model/arms.js'
import { LEAN } from '../../model/features.js'

/** The names of checks for equal work, and what of an arm they are about. Pure. @import { Arm } from '../../model/types.ts' */

/** The rows that are held equal before load; each can be an experiment's axis instead. */
export const PARITY_NAMES = [
  'parity-answers',
  'parity-connect-timeout',
  'parity-refusals',
  'parity-permissive',
  'parity-upstreams',
  'parity-tls',
  'parity-protocol',
  'parity-workers',
  'parity-pooling',
  'parity-logging',
  'parity-features',
  'parity-load',
  'parity-chunks',
]

/** Picks the parts of an arm that change its sidecars' work; the traffic policy is the run's. @param {Arm} arm */
export function configurationOf(arm) {
  const { tls, protocol, features = LEAN, interception } = arm.conditions
  const plane = nameOfContender({ ...arm, repeatOf: null, control: undefined })
  return { plane, tls, protocol, features, ...(interception && { interception }) }
}

/** Picks the parts of an arm that decide its number of workers, beside its configuration. @param {Arm} arm */
export function sizeOf({ link, cpuLimitCores, conditions: { workers } }) {
  return { link, cpuLimitCores, workers }
}
