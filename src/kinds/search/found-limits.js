import { roundLimitsUp } from '../../model/container-limits.js'
import { computeRecommendedBytes } from './memory-floor.js'

/**
 * The limits that a search found, to give to a sidecar. Pure.
 * @import { SizeResult } from '../../model/types.ts'
 * @import { ContainerLimits } from '../../model/container-limits.js'
 */

/**
 * Computes the limits that were found, rounded up to millicores and MiB.
 * @param {Pick<SizeResult, 'cpu' | 'memory' | 'neighbourCores'>} size
 * @returns {ContainerLimits | null} beside a neighbour, the CPU is a request; null: no CPU limit or no memory limit was found
 */
export function computeLimitsFound({ cpu, memory, neighbourCores }) {
  if (!cpu.isFound || cpu.held === null || !memory?.isFound) return null
  const limits = roundLimitsUp({ cores: cpu.held, bytes: computeRecommendedBytes(memory) })
  return neighbourCores === undefined ? limits : { ...limits, isRequest: true }
}

/**
 * Renders how much less one limit is than another: `30m less`, or `30m more` if the saving is negative.
 * @param {number} saving
 * @param {string} unit
 */
export const renderSaving = (saving, unit) => `${Math.abs(saving)}${unit} ${saving < 0 ? 'more' : 'less'}`
