import { renderContenderName } from '../../model/arms.js'
import { LEAN } from '../../model/features.js'

/**
 * The names of checks for equal work, and the parts of an arm on which they depend. Pure.
 * @import { Arm } from '../../model/types.ts'
 */

/** The rows that must be equal before load; an experiment may set any aside. */
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

/** The rows that the start of an arm gives. The corpus gives the others, but of a pipeline the start also gives `parity-answers`. */
export const START_ROWS = ['parity-workers', 'parity-load', 'parity-chunks']

/** Renders the name of a row as texts for people have it, without `parity-`. @param {string} name */
export const renderRowName = name => name.replace('parity-', '')

/**
 * Picks the parts of an arm that change its sidecars' work. The traffic policy is that of the run, and so the same for all.
 * @param {Arm} arm
 * @returns {{ plane: string, tls: Arm['conditions']['tls'], protocol: Arm['conditions']['protocol'], features: string,
 *   interception?: Arm['conditions']['interception'] }} plane: its name with profile and variant, without `(A/A)` and control;
 *   features: `lean` if the arm names none; interception: absent if its services have no network namespaces
 */
export function pickConfiguration(arm) {
  const { tls, protocol, features = LEAN, interception } = arm.conditions
  const plane = renderContenderName({ ...arm, repeatOf: null, control: undefined })
  return { plane, tls, protocol, features, ...(interception && { interception }) }
}

/**
 * Picks the parts of an arm that decide its number of workers, beside its configuration.
 * @param {Arm} arm
 * @returns {Pick<Arm, 'link' | 'cpuLimitCores'> & Pick<Arm['conditions'], 'workers'>} workers: null if the plane chooses them
 */
export function pickWorkerSize({ link, cpuLimitCores, conditions: { workers } }) {
  return { link, cpuLimitCores, workers }
}
