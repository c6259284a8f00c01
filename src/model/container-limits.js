import { MIB } from '../lib/units.js'

/** Limits of a container as they are pasted. Pure. */

/**
 * @typedef {{ millicores: number, mebibytes: number, requestMillicores?: number, isRequest?: true }} Limits requestMillicores:
 *   absent: the limit; isRequest: millicores are a request, and there is no CPU limit
 */

/** @param {{ cores: number, bytes: number }} of @returns {Limits} rounded up */
export function toLimits({ cores, bytes }) {
  return { millicores: toMillicores(cores), mebibytes: Math.ceil(bytes / MIB) }
}

/** Rounds up, but for rounding errors: 1.15 × 0.04 cores are 46m. @param {number} cores */
export function toMillicores(cores) {
  return Math.ceil(Number((1000 * cores).toFixed(6)))
}

/** Renders them as lines of YAML, below a heading. @param {Limits} limits */
export function renderResources(limits) {
  const rows = Object.entries(toResources(limits))
  return [
    '    resources:',
    ...rows.map(([name, of]) => {
      const parts = Object.entries(of).map(([what, amount]) => `${what}: ${amount}`)
      return `      ${name}: { ${parts.join(', ')} }`
    }),
  ]
}

/** Renders the `resources` of a container in Kubernetes. @param {Limits} limits */
export function toResources({ millicores, mebibytes, requestMillicores = millicores, isRequest }) {
  const memory = `${mebibytes}Mi`
  const cpu = `${millicores}m`
  return { requests: { cpu: `${requestMillicores}m`, memory }, limits: isRequest ? { memory } : { cpu, memory } }
}
