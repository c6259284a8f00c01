import { readdirSync } from 'node:fs'
import { FEATURE_DEFINITIONS, FEATURE_NAMES } from '../src/model/features.js'
import { readTopology } from '../src/prepare/read-experiment.js'

/** The tables of links and of features, from the services that are started and the work of their sidecars. */
/** @import { Topology } from '../src/model/types.ts' */

const TOPOLOGIES = new URL('../bench/topologies', import.meta.url)

/** @returns {string[][]} a header, and a row for each link */
export function tabulateLinks() {
  const links = readdirSync(TOPOLOGIES).map(file => readTopology(file.replace(/\.yaml$/, '')))
  const rows = links.map(link => {
    const way = listWay(link)
    const mtls = way.length > 1 ? 'between the two sidecars' : 'none'
    return [`\`${link.name}\``, way.join(' → '), renderLoad(link.entry), `${way.length}`, mtls]
  })
  return [['link', 'services on the way', 'the load generator is', 'sidecars', 'mTLS'], ...rows]
}

/** @returns {string[][]} a header, and a row for each feature in the order in which a request meets them */
export function tabulateFeatures() {
  return [
    ['feature', 'what the sidecar does for each request'],
    ...FEATURE_NAMES.map(name => [`\`${name}\``, FEATURE_DEFINITIONS[name]]),
  ]
}

/** The names of the services that a request passes. @param {Topology} link */
function listWay({ services, entry }) {
  const names = [entry.service]
  for (const name of names) names.push(...(services.find(service => service.name === name)?.calls ?? []))
  return names
}

/** @param {Topology['entry']} entry */
function renderLoad({ service, listener }) {
  return listener === 'inbound' ? `a client of ${service}` : `the application of ${service}, which calls its sidecar`
}
