import { roundUp } from '../lib/round-up.js'
import { MIB } from '../lib/units.js'

/** Renders limits of a container as a user pastes them into a file of Kubernetes. Pure. */

/**
 * CPU and memory of a container, in the units of a manifest.
 * @typedef {object} ContainerLimits
 * @property {number} millicores of the CPU limit
 * @property {number} mebibytes of the memory limit
 * @property {number} [requestMillicores] the CPU request; absent: it is `millicores`
 * @property {true} [isRequest] `millicores` is a request only, and there is no CPU limit
 */

/**
 * Rounds limits up to millicores and MiB.
 * @param {{ cores: number, bytes: number }} limits
 * @returns {ContainerLimits}
 */
export function roundLimitsUp({ cores, bytes }) {
  return { millicores: roundCoresUp(cores), mebibytes: Math.ceil(bytes / MIB) }
}

/**
 * Rounds cores up to millicores, after cutting off the error of floating point: 1.5 × 0.1 cores are 150m, not 151m.
 * @param {number} cores
 * @returns {number} millicores
 */
export function roundCoresUp(cores) {
  return roundUp(1000 * cores)
}

/** Renders cores in millicores, as a quantity of Kubernetes, rounded up: `100m`, `2000m`. @param {number} cores */
export const renderMillicores = cores => `${roundCoresUp(cores)}m`

/**
 * Renders the `resources` of a container as lines of YAML, indented as in a pod spec.
 * @param {ContainerLimits} limits
 * @returns {string[]} lines
 */
export function renderResourcesYaml(limits) {
  const rows = Object.entries(createResources(limits))
  return [
    '    resources:',
    ...rows.map(([name, quantities]) => {
      const parts = Object.entries(quantities).map(([resource, quantity]) => `${resource}: ${quantity}`)
      return `      ${name}: { ${parts.join(', ')} }`
    }),
  ]
}

/**
 * Creates the `resources` of a Kubernetes container, whose memory request is its memory limit.
 * @param {ContainerLimits} limits
 * @returns requests and limits, as quantities of Kubernetes (`150m`, `64Mi`); limits: without `cpu` if `isRequest` is set
 */
export function createResources({ millicores, mebibytes, requestMillicores = millicores, isRequest }) {
  const memory = `${mebibytes}Mi`
  const cpu = `${millicores}m`
  return { requests: { cpu: `${requestMillicores}m`, memory }, limits: isRequest ? { memory } : { cpu, memory } }
}
