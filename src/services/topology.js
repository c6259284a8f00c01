import { z } from 'zod'
import { UsageError } from '../lib/errors.js'
import { renderSuggestion } from '../lib/nearest.js'
import { parseYaml } from '../lib/yaml.js'
import { PORTS } from '../model/sidecar-contract.js'

/** @import { Arm, Endpoint, Place, Service, Topology } from '../model/types.ts' */

const topologySchema = z.strictObject({
  name: z.string(),
  services: z
    .array(
      z.strictObject({
        name: z.string().regex(/^[a-z][a-z0-9-]*$/, 'a service is named in lower case, with digits and hyphens'),
        application: z.enum(['echo', 'forward']).nullable().default(null),
        calls: z.array(z.string()).default([]),
      }),
    )
    .min(1),
  entry: z.strictObject({ service: z.string(), listener: z.enum(['inbound', 'outbound']) }),
})

/**
 * Parses a topology.
 * @param {string} text YAML
 * @param {string} file its name, for error messages
 * @returns {Topology}
 * @throws {UsageError} if it is empty, no YAML, or not as the schema says, two services have one name, the entry or a called service is
 *   missing, or a forward application does not call exactly one service
 */
export function parseTopology(text, file) {
  const topology = parseYaml({ text, file, schema: topologySchema })
  const names = topology.services.map(service => service.name)
  const repeated = names.find((name, i) => names.indexOf(name) < i)
  if (repeated !== undefined) throw new UsageError(`${file}: two services are named "${repeated}"`)
  const called = [topology.entry.service, ...topology.services.flatMap(service => service.calls)]
  for (const name of called) {
    if (!names.includes(name))
      throw new UsageError(`${file}: unknown service "${name}"${renderSuggestion(name, names)}`)
  }
  for (const { name, application, calls } of topology.services) {
    if (application === 'forward' && calls.length !== 1)
      throw new UsageError(`${file}: ${name}: a forward application calls exactly one service`)
  }
  return topology
}

/**
 * Copies the last application without callees. Its callers spread requests over the copies.
 * @param {Topology} topology that has such an application, if copies are made
 * @param {number} copies their number, including the original; 1: none are made
 * @returns {Topology}
 */
export function copyLastService(topology, copies) {
  const last = /** @type {Service} */ (
    topology.services.findLast(({ application, calls }) => application !== null && calls.length === 0)
  )
  return { ...topology, services: [...topology.services, ...listCopies(last, copies).slice(1)] }
}

/**
 * Lists a service and its copies, which are named `name-2`, `name-3` and so on.
 * @param {Service} service
 * @param {number} copies their number, including the original
 * @returns {Service[]} the original first
 */
export function listCopies(service, copies) {
  const names = Array.from({ length: copies - 1 }, (_, i) => `${service.name}-${i + 2}`)
  return [service, ...names.map(name => ({ ...service, name, copyOf: service.name }))]
}

/**
 * Creates the topology of an arm: that of its link, with the pairs and copies of its conditions. With both, only the last pair has copies.
 * @param {Pick<Arm, 'link' | 'conditions'>} arm
 * @param {Record<string, Topology>} topologies by link; that of the arm is among them
 * @returns {Topology}
 */
export function createArmTopology({ link, conditions }, topologies) {
  return copyLastService(copyLink(topologies[link], conditions.pairs ?? 1), conditions.services)
}

/**
 * Copies all services of a link, named `name-of-2`, `name-of-3` and so on. The services of a copy have identities of their own, and call
 * only each other.
 * @param {Topology} topology
 * @param {number} copies their number, including the original
 * @returns {Topology}
 */
export function copyLink(topology, copies) {
  const copiedServices = Array.from({ length: copies - 1 }, (_, i) => {
    const renderCopyName = (/** @type {string} */ name) => `${name}-of-${i + 2}`
    return topology.services.map(service => ({
      ...service,
      name: renderCopyName(service.name),
      calls: service.calls.map(renderCopyName),
      pairOf: service.name,
    }))
  })
  return { ...topology, services: [...topology.services, ...copiedServices.flat()] }
}

/**
 * Locates the endpoints to which the load goes: the entry sidecar of each pair, or, without sidecars, the first application of each pair
 * with its copies.
 * @param {Pick<Topology, 'services' | 'entry'>} topology
 * @param {{ places: Record<string, Place>, hasSidecars: boolean, isRedirected?: boolean }} options isRedirected:
 *   connections to applications are redirected to their sidecars
 * @returns {{ endpoints: Endpoint[], host: string }} host: the value of the Host header: behind an outbound
 *   entry the first callee, else, or if there is none, the called service
 */
export function locateEntryEndpoints({ services, entry }, { places, hasSidecars, isRedirected = false }) {
  const name = chooseEntryService({ services, entry }, hasSidecars)
  const isToApplication = isRedirected && entry.listener === 'inbound'
  const port = isToApplication ? PORTS.application : chooseEntryPort({ entry }, hasSidecars)
  const isCalled = (/** @type {Service} */ service) =>
    hasSidecars ? isEntryOf({ entry }, service) : [service.name, service.copyOf, service.pairOf].includes(name)
  const endpoints = services.filter(isCalled).map(service => ({ address: places[service.name].reach, port }))
  const entryService = services.find(service => service.name === name)
  const callee = hasSidecars && entry.listener === 'outbound' ? entryService?.calls[0] : undefined
  return { endpoints, host: callee || name }
}

/**
 * Chooses the service that the load calls: the entry, or its first callee if there are no sidecars and the entry has
 * no application.
 * @param {Pick<Topology, 'services' | 'entry'>} topology
 * @param {boolean} hasSidecars
 * @returns {string} the name of the service; that of the entry also if it has neither application nor callees
 */
export function chooseEntryService({ services, entry }, hasSidecars) {
  const entryService = services.find(({ name }) => name === entry.service)
  if (hasSidecars || entryService?.application) return entry.service
  return entryService?.calls[0] ?? entry.service
}

/**
 * Chooses the port that the load calls: that of the entry's listener, or, without sidecars, that of the application.
 * @param {Pick<Topology, 'entry'>} topology
 * @param {boolean} hasSidecars
 * @returns {number}
 */
export function chooseEntryPort({ entry }, hasSidecars) {
  return hasSidecars ? PORTS[entry.listener] : PORTS.application
}

/**
 * Locates the next hop of a forward application: its sidecar, or, without sidecars or with redirected connections,
 * the next application.
 * @param {Service} service that calls another
 * @param {{ places: Record<string, Place>, hasSidecars: boolean, isRedirected?: boolean }} options places: by the
 *   name of the service
 * @returns {Endpoint & { host: string }} host: the name of the called service
 */
export function locateNextHop({ name, calls }, { places, hasSidecars, isRedirected = false }) {
  return hasSidecars && !isRedirected
    ? { address: places[name].inside, port: PORTS.outbound, host: calls[0] }
    : { address: places[calls[0]].reach, port: PORTS.application, host: calls[0] }
}

/**
 * Says whether a service is the entry of its link, or stands for it in another pair. Other copies of the entry (`copyOf`) do not count.
 * @param {Pick<Topology, 'entry'>} topology
 * @param {Service} service
 * @returns {boolean}
 */
export function isEntryOf({ entry }, { name, pairOf = name }) {
  return entry.service === pairOf
}
