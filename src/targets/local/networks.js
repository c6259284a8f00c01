import path from 'node:path'
import { BenchError } from '../../lib/errors.js'
import { uniqueBy } from '../../lib/group-by.js'
import { AS_NODE_PROXY, AS_SIDECAR, createPlace, GENERATOR, PROBER } from '../../model/sidecar-contract.js'
import { findOnPath } from '../../tools/find.js'
import { renderRedirectRules, renderServiceRules } from '../iptables-rules.js'
import { createAddressAllocator } from './addresses.js'
import { createBridge, createNsenterArgv, removeNetworkNamespace, runCommand } from './bridge.js'
import { NETNS_FOLDER } from './network-runs.js'

/**
 * Services of a run have network namespaces, each at an address of its own on a bridge.
 * @import { Ledger, Place, Pod, ProcessSpec } from '../../model/types.ts'
 * @import { Run } from './bridge.js'
 */

/** @typedef {ReturnType<typeof createNetworks>} Networks */

const BLOCK = '10.77'
const PACKAGES = { ip: 'iproute2', nsenter: 'util-linux', setpriv: 'util-linux', iptables: 'iptables' }

/**
 * Creates the functions for the network namespaces of a run. The first call that needs their bridge creates it.
 * @param {{ ledger: Ledger, run?: Run, iptables?: string }} options run: `runCommand` by default; iptables: the command whose
 *   `-restore` sets rules, by default that of IPTABLES in the environment, or `iptables`
 * @returns placesFor: reserves addresses; hasNamespaces, createNamespaces, removeNamespaces: of the processes of a start;
 *   createEnterArgv, createProberEnterArgv: create an argv prefix; listPodNetworks: lists files of namespaces; assertPossible:
 *   throws if none can be created; readIptablesVersion: for the manifest; close: removes all, and rejects if it cannot
 */
export function createNetworks({ ledger, run = runCommand, iptables = process.env.IPTABLES || 'iptables' }) {
  const allocateAddress = createAddressAllocator(BLOCK)
  const commonAddresses = { [PROBER]: allocateAddress(), [GENERATOR]: allocateAddress() }
  const bridge = createBridge({ ledger, commonAddresses, run, iptables })
  /** Addresses by the name of the namespace. @type {Map<string, string>} */
  const addresses = new Map()
  /** @type {Map<string, Promise<void>>} */
  const creations = new Map()
  const renderNamespaceName = (/** @type {number} */ start, /** @type {string} */ service) =>
    `${bridge.name}.${start}.${service}`

  /**
   * Creates the namespace of a service, unless that was begun before. It has the rules of the service's pod, else of its processes.
   * @param {number} start
   * @param {string} service
   * @param {ProcessSpec[]} specs of the processes that are about to start
   * @returns {Promise<void>} rejects with a BenchError if a command fails
   */
  function createServiceNamespace(start, service, specs) {
    const name = renderNamespaceName(start, service)
    const serviceSpecs = specs.filter(spec => spec.service === service)
    const pod = listDistinctPods(specs).find(candidate => candidate.service === service)
    const hasTranslations = [...serviceSpecs, ...(pod ? [pod] : [])].some(({ redirects }) => redirects?.translations)
    const rules = pod ? renderRedirectRules(pod.redirects, pod.ports) : renderServiceRules(serviceSpecs)
    const creation =
      creations.get(name) ?? bridge.createNetworkNamespace(name, addresses.get(name) ?? '', { rules, hasTranslations })
    creations.set(name, creation)
    return creation
  }

  return {
    /**
     * Reserves addresses for the services of a start, and opens the bridge if it is not open.
     * @param {number} start
     * @param {string[]} services
     * @returns {Promise<Record<string, Place>>} with those of prober and generator
     * @throws {BenchError} if the bridge cannot be created
     */
    async placesFor(start, services) {
      await bridge.open()
      const serviceAddresses = services.map(service => {
        const address = allocateAddress()
        addresses.set(renderNamespaceName(start, service), address)
        return [service, address]
      })
      const entries = [...serviceAddresses, ...Object.entries(commonAddresses)]
      return Object.fromEntries(entries.map(([service, address]) => [service, createPlace(address)]))
    },

    /**
     * Says whether any of the processes has a network namespace: a service for which `placesFor` reserved an address has one, and
     * the generator once the bridge is open.
     * @param {number} start
     * @param {ProcessSpec[]} specs
     * @returns {boolean}
     */
    hasNamespaces: (start, specs) =>
      specs.some(({ role, service }) =>
        role === 'generator' ? bridge.isOpen() : addresses.has(renderNamespaceName(start, service)),
      ),

    /**
     * Creates the namespaces of processes that are about to start, and of their pods.
     * @param {number} start
     * @param {ProcessSpec[]} specs
     * @throws {BenchError} if a command fails
     */
    async createNamespaces(start, specs) {
      const placed = [...specs.filter(({ role }) => role !== 'generator'), ...listDistinctPods(specs)]
      const services = [...new Set(placed.map(({ service }) => service))]
      await Promise.all(services.map(service => createServiceNamespace(start, service, specs)))
    },

    /**
     * Creates the argv prefix by which a process enters its namespace; a sidecar also changes to SIDECAR_USER.
     * @param {number} start
     * @param {Pick<ProcessSpec, 'service' | 'role' | 'pods'>} spec
     * @returns {string[]}
     */
    createEnterArgv(start, { service, role, pods }) {
      const name = role === 'generator' ? `${bridge.name}.${GENERATOR}` : renderNamespaceName(start, service)
      if (role !== 'sidecar') return createNsenterArgv(name)
      return [...createNsenterArgv(name), ...(pods ? AS_NODE_PROXY : AS_SIDECAR)]
    },

    /**
     * Lists the files of the namespaces of a process's pods, in their order.
     * @param {number} start
     * @param {Pick<ProcessSpec, 'pods'>} spec
     * @returns {string[]} []: it has no pods
     */
    listPodNetworks: (start, { pods = [] }) =>
      pods.map(({ service }) => `${NETNS_FOLDER}/${renderNamespaceName(start, service)}`),

    /** Creates the argv prefix by which a process enters the prober's namespace. @returns {string[] | null} null: the run has none */
    createProberEnterArgv: () => (bridge.isOpen() ? createNsenterArgv(`${bridge.name}.${PROBER}`) : null),

    /**
     * Removes the namespaces of processes of a start, and of their pods. One that was not created is skipped.
     * @param {number} start
     * @param {Pick<ProcessSpec, 'service' | 'pods'>[]} specs
     * @throws {BenchError} if one cannot be removed
     */
    async removeNamespaces(start, specs) {
      for (const { service } of [...specs, ...listDistinctPods(specs)]) {
        const name = renderNamespaceName(start, service)
        await creations.get(name)?.catch(() => {})
        if (creations.delete(name)) await removeNetworkNamespace(name, run)
        addresses.delete(name)
      }
    },

    /**
     * Asserts that namespaces can be created: looks for the programs, and creates one for a test. The bridge then stays open.
     * @throws {BenchError} if a program is missing, or this user may not
     */
    async assertPossible() {
      for (const [program, packageName] of Object.entries(PACKAGES)) {
        const name = program === 'iptables' ? iptables : program
        const folders = name.includes('/') ? path.dirname(name) : `${process.env.PATH}`
        if (findOnPath(path.basename(name), folders) === null)
          throw new BenchError(
            `--interception redirect needs ${name}, which is not here: apt-get install ${packageName}`,
          )
      }
      await bridge.rehearse(allocateAddress())
    },

    /** Reads the version of iptables, and whether it is legacy or nf_tables. @throws {BenchError} if it fails */
    readIptablesVersion: () => run([iptables, '-V']),

    close: bridge.close,
  }
}

/**
 * Lists the pods of proxies, each once: the process that hands the pods to a proxy names them, too.
 * @param {Pick<ProcessSpec, 'pods'>[]} specs
 * @returns {Pod[]} []: no process has pods
 */
function listDistinctPods(specs) {
  return uniqueBy(
    specs.flatMap(({ pods = [] }) => pods),
    ({ service }) => service,
  )
}
