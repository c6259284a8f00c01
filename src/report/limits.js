import { stringify } from 'yaml'
import { limitsOf } from '../kinds/search/memory-floor.js'
import { groupBy } from '../lib/group-by.js'
import { nameOf } from '../model/arms.js'
import { toResources } from '../model/container-limits.js'

/**
 * Renders the limits that were found, to paste. Pure.
 * @import { SizeResult, Summary } from '../model/types.ts' @import { Limits } from '../model/container-limits.js'
 * @typedef {{ service: string | null, limits: Limits }} Entry limits of a sidecar; service: null: any
 */

/** Makers of the documents of each format. @type {Record<string, (entries: Entry[]) => object[]>} */
const SHAPES = {
  yaml: entries => entries.map(({ limits }) => ({ resources: toResources(limits) })),
  helm: entries => {
    const values = entries.map(({ service, limits }) => {
      const sidecar = { sidecar: { resources: toResources(limits) } }
      return service === null ? sidecar : { [service]: sidecar }
    })
    return [Object.assign({}, ...values)]
  },
  // The m of Compose is a MiB: https://docs.docker.com/reference/compose-file/extension/#specifying-byte-values
  compose: entries => [
    {
      services: Object.fromEntries(
        entries.map(({ service, limits: { millicores, mebibytes } }) => [
          service === null ? 'sidecar' : `${service}-sidecar`,
          { deploy: { resources: { limits: { cpus: `${millicores / 1000}`, memory: `${mebibytes}m` } } } },
        ]),
      ),
    },
  ],
}

/** The formats of printed limits: of a container in Kubernetes, values of a Helm chart, a Compose file. */
export const FORMATS = Object.keys(SHAPES)

/** Renders documents, of Kubernetes one a sidecar. @param {Pick<Summary, 'sizes'>} summary @param {string} format */
export function renderLimits({ sizes }, format) {
  const documents = [...groupBy(sizes, nameOf).values()].flatMap(own => {
    const known = own.flatMap(size => {
      const limits = limitsOf(size)
      const services = size.services.length > 0 ? size.services : [null]
      return limits === null ? [] : services.map(service => ({ service, limits, size }))
    })
    const isEach = SHAPES[format](known).length > 1
    const groups = isEach ? known.map(entry => [entry]) : known.length > 0 ? [known] : []
    return groups.map(entries => describe(entries) + stringify(SHAPES[format](entries)[0]).trimEnd())
  })
  return documents.join('\n---\n')
}

/** @param {{ service: string | null, size: SizeResult }[]} entries of a plane */
function describe(entries) {
  const [{ size }] = entries
  const head = `# ${nameOf(size)}, for each sidecar of the link ${size.cpu.link}`
  return `${[head, ...entries.map(entry => `#   ${sayLoad(entry)}`)].join('\n')}\n`
}

/** @param {{ service: string | null, size: SizeResult }} entry */
function sayLoad({ service, size: { ratePerSecond, p99Ms, isChecked } }) {
  const p99 = p99Ms === null ? '' : `, p99 ${p99Ms.toFixed(1)} ms`
  const proof = isChecked ? 'checked' : 'NOT proven: these limits did not pass their check'
  return `${service === null ? '' : `${service}: `}${ratePerSecond} requests/s${p99}; ${proof}`
}
