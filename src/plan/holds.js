import { mib } from '../lib/units.js'

/**
 * Whether a machine holds as many sidecars as an arm asks for. Pure: what it offers, and what one takes, are given.
 * @import { Control, Limits } from '../model/types.ts'
 */

// Of few sidecars the memory is no matter of their number: what every run needs is checked before (src/verbs/room.js).
const FEW = 10
const KIT_BYTES = 300e6
/** Of one that serves beside a sidecar. */
export const APPLICATION_BYTES = 6e6
// Connections to the control plane and from it, and to the application behind the sidecars.
const CONNECTIONS = 3
// Of the control plane beside connections, and of the kit.
const OWN_FILES = 200

/**
 * What is short, with the arithmetic; null where nothing is.
 * @param {{ sidecars: number, needs: ReturnType<Control['needsOf']>, limits: Limits }} options
 * @returns {string | null}
 */
export function findShortage({ sidecars, needs, limits }) {
  if (sidecars <= FEW) return null
  const each = needs.sidecarBytes + needs.controlBytes
  const rows = [
    {
      ...{ what: 'memory', each, fixed: KIT_BYTES, offered: limits.memoryBytes },
      show: (/** @type {number} */ bytes) => `${mib(bytes)} MiB`,
    },
    { what: 'threads', each: needs.threads, fixed: limits.threadsUsed, offered: limits.threads, show: String },
    { what: 'open files of one process', each: CONNECTIONS, fixed: OWN_FILES, offered: limits.files, show: String },
    { what: 'ports for connections', each: CONNECTIONS, fixed: 0, offered: limits.ports, show: String },
  ]
  const short = rows.find(({ each, fixed, offered }) => sidecars * each + fixed > offered)
  if (!short) return null
  const { what, each: one, fixed, offered, show } = short
  const most = Math.max(0, Math.floor((offered - fixed) / one))
  const also = fixed > 0 ? ` + ${show(fixed)}` : ''
  return `${sidecars} sidecars take ${show(sidecars * one + fixed)} of ${what} (${sidecars} × ${show(one)}${also}), and this machine has ${show(offered)}: at most ${most} fit`
}
