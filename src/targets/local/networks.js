import path from 'node:path'
import { execa } from 'execa'
import { BenchError } from '../../lib/errors.js'
import { uniqueBy } from '../../lib/group-by.js'
import {
  AS_NODE_PROXY,
  AS_SIDECAR,
  createPlace,
  GENERATOR,
  PROBER,
  SIDECAR_USER,
} from '../../model/sidecar-contract.js'
import { listProcEntries } from '../../node/kernel/proc-files.js'
import { findOnPath } from '../../tools/find.js'
import { renderRules, renderServiceRules } from '../rules.js'
import { createAddresses } from './addresses.js'
import { FOLDER, PREFIX } from './network-runs.js'

/**
 * Network namespaces of a run, each at an address of its own on a bridge. The bridge is in a namespace, too, so the
 * machine's own interfaces, routes and rules stay as they are, and all is gone with the namespaces.
 * @import { Ledger, Place, ProcessSpec } from '../../model/types.ts'
 */

/** @typedef {ReturnType<typeof createNetworks>} Networks */
/**
 * Runs a command with a text as its stdin. It resolves with its stdout, and rejects with a BenchError if it fails.
 * @typedef {(argv: string[], input?: string) => Promise<string>} Run
 */

const BRIDGE = 'bench'
const BLOCK = '10.77'
// Peers of the sidecar's tunnels have addresses in it; the kernel translates an address only after it has found a route to it.
const TRANSLATED = '198.19.0.0/16'
const PROGRAMS = { ip: 'iproute2', nsenter: 'util-linux', setpriv: 'util-linux', iptables: 'iptables' }

/**
 * Creates the network namespaces of a run; it opens their bridge when it is first needed.
 * @param {{ ledger: Ledger, run?: Run, iptables?: string }} options iptables: the command whose `-restore` sets rules
 * @returns placesFor: reserves addresses; has, prepare, remove: of the namespaces of a start; enter, enterProber:
 *   argv that enters a namespace; listPodNetworks: files of namespaces; assertPossible: throws if they cannot be
 *   created; close: removes all
 */
export function createNetworks({ ledger, run = runCommand, iptables = process.env.IPTABLES || 'iptables' }) {
  const nextAddress = createAddresses(BLOCK)
  const common = { [PROBER]: nextAddress(), [GENERATOR]: nextAddress() }
  const hub = createHub({ ledger, common, run, iptables })
  /** Addresses by the name of the namespace. @type {Map<string, string>} */
  const addresses = new Map()
  /** @type {Map<string, Promise<void>>} */
  const creations = new Map()
  const renderNamespaceName = (/** @type {number} */ start, /** @type {string} */ service) =>
    `${hub.name}.${start}.${service}`

  return {
    /**
     * Reserves addresses for the services of a start, and opens the bridge if it is not open.
     * @param {number} start
     * @param {string[]} services
     * @returns {Promise<Record<string, Place>>} with those of prober and generator
     */
    async placesFor(start, services) {
      await hub.open()
      const addressed = services.map(service => {
        const address = nextAddress()
        addresses.set(renderNamespaceName(start, service), address)
        return [service, address]
      })
      /** @type {[string, Place][]} */
      const places = [...addressed, ...Object.entries(common)].map(([service, address]) => [
        service,
        createPlace(address),
      ])
      return Object.fromEntries(places)
    },

    /**
     * Says whether any of the processes has a network namespace. The generator has one once the bridge is open.
     * @param {number} start
     * @param {ProcessSpec[]} specs
     */
    has: (start, specs) =>
      specs.some(({ role, service }) =>
        role === 'generator' ? hub.isOpen() : addresses.has(renderNamespaceName(start, service)),
      ),

    /**
     * Creates the namespaces of processes that are about to start.
     * @param {number} start
     * @param {ProcessSpec[]} specs
     */
    async prepare(start, specs) {
      const placed = [...specs.filter(({ role }) => role !== 'generator'), ...listPods(specs)]
      const services = new Set(placed.map(({ service }) => service))
      const namespaces = [...services].map(service => {
        const name = renderNamespaceName(start, service)
        const serviceSpecs = specs.filter(spec => spec.service === service)
        const pod = listPods(specs).find(pod => pod.service === service)
        const hasTranslations = [...serviceSpecs, ...(pod ? [pod] : [])].some(
          ({ redirects }) => redirects?.translations,
        )
        const rules = pod ? renderRules(pod.redirects, pod.ports) : renderServiceRules(serviceSpecs)
        const creation = creations.get(name) ?? hub.make(name, addresses.get(name) ?? '', { rules, hasTranslations })
        creations.set(name, creation)
        return creation
      })
      await Promise.all(namespaces)
    },

    /**
     * Creates the argv prefix by which a process enters its namespace; a sidecar also changes to its user.
     * @param {number} start
     * @param {Pick<ProcessSpec, 'service' | 'role' | 'pods'>} spec
     * @returns {string[]}
     */
    enter: (start, { service, role, pods }) => [
      ...createEnterArgv(role === 'generator' ? `${hub.name}.${GENERATOR}` : renderNamespaceName(start, service)),
      ...(role === 'sidecar' ? (pods ? AS_NODE_PROXY : AS_SIDECAR) : []),
    ],

    /**
     * Lists the files of the namespaces of a process' pods.
     * @param {number} start
     * @param {Pick<ProcessSpec, 'pods'>} spec
     * @returns {string[]} []: it has no pods
     */
    listPodNetworks: (start, { pods = [] }) =>
      pods.map(({ service }) => `${FOLDER}/${renderNamespaceName(start, service)}`),

    /** Creates the argv prefix by which a process enters the prober's namespace. @returns {string[] | null} null: the run has none */
    enterProber: () => (hub.isOpen() ? createEnterArgv(`${hub.name}.${PROBER}`) : null),

    /**
     * Removes the namespaces of processes of a start.
     * @param {number} start
     * @param {Pick<ProcessSpec, 'service' | 'pods'>[]} specs
     */
    async remove(start, specs) {
      for (const name of [...specs, ...listPods(specs)].map(({ service }) => renderNamespaceName(start, service))) {
        await creations.get(name)?.catch(() => {})
        if (creations.delete(name)) await removeNamespace(name, run)
        addresses.delete(name)
      }
    },

    /**
     * Asserts that namespaces can be created: looks for the programs, and creates one for a test.
     * @throws {BenchError} if a program is missing, or this user may not
     */
    async assertPossible() {
      for (const [program, needed] of Object.entries(PROGRAMS)) {
        const name = program === 'iptables' ? iptables : program
        const folders = name.includes('/') ? path.dirname(name) : `${process.env.PATH}`
        if ((await findOnPath(path.basename(name), folders)) === null)
          throw new BenchError(`--interception redirect needs ${name}, which is not here: apt-get install ${needed}`)
      }
      await hub.rehearse(nextAddress())
    },

    /** Reads the version of iptables, and whether it is legacy or nf_tables. */
    readIptablesVersion: () => run([iptables, '-V']),

    close: hub.close,
  }
}

/**
 * Creates the bridge of a run when it is first needed, and namespaces on it.
 * @param {{ ledger: Ledger, common: Record<string, string>, run: Run, iptables: string }} options common: the
 *   addresses of prober and generator, which all starts share
 * @returns name: of the bridge's namespace; open: creates the bridge; make: creates a namespace on it; rehearse:
 *   tests one; close: removes all
 */
function createHub({ ledger, common, run, iptables }) {
  const hub = `${PREFIX}${ledger.runId}`
  let links = 0
  /** @type {Promise<void> | null} */
  let opening = null

  const runIp = (/** @type {string} */ namespace, /** @type {string[]} */ lines) =>
    run(['ip', '-n', namespace, '-batch', '-'], `${lines.join('\n')}\n`)

  /**
   * Creates a namespace with an address on the bridge.
   * @param {string} name
   * @param {string} address
   * @param {{ rules: string | null, hasTranslations?: boolean }} options rules: for iptables-restore; null: none;
   *   hasTranslations: rules translate addresses, which need a route
   */
  async function createNamespace(name, address, { rules, hasTranslations = false }) {
    const link = `v${++links}`
    await run(['ip', 'netns', 'add', name])
    await runIp(hub, [
      `link add ${link} type veth peer name eth0 netns ${name}`,
      `link set ${link} master ${BRIDGE} up`,
    ])
    const routes = hasTranslations ? [`route add ${TRANSLATED} dev eth0`] : []
    await runIp(name, ['link set lo up', `address add ${address}/16 dev eth0`, 'link set eth0 up', ...routes])
    if (rules !== null) await run([...createEnterArgv(name), `${iptables}-restore`, '-w'], rules)
  }

  /** Creates the bridge, and the namespaces of prober and generator. */
  async function createBridge() {
    ledger.hold('netns', hub)
    await run(['ip', 'netns', 'add', hub])
    await runIp(hub, [`link add ${BRIDGE} type bridge`, `link set ${BRIDGE} up`])
    for (const [service, address] of Object.entries(common))
      await createNamespace(`${hub}.${service}`, address, { rules: null })
  }

  const open = () => (opening ??= createBridge())

  /** Removes all namespaces of the run. */
  async function close() {
    await opening?.catch(() => {})
    if (opening === null) return
    await removeNamespaces(ledger.runId, run)
    opening = null
    ledger.release('netns', hub)
  }

  /**
   * Creates a namespace with rules, runs a program in it as a sidecar, and removes it.
   * @param {string} address of the namespace
   * @throws {BenchError} if that fails, with advice
   */
  async function rehearse(address) {
    const name = `${hub}.0.rehearsal`
    try {
      await open()
      await createNamespace(name, address, { rules: renderRules({ inbound: 1, outbound: 2 }, [3]) })
      await run([...createEnterArgv(name), ...AS_SIDECAR, 'true'])
      await removeNamespace(name, run)
    } catch (error) {
      await close()
      const why = /** @type {Error} */ (error).message
      throw new BenchError(`--interception redirect ${renderRulesFailure(why)}`, { cause: error })
    }
  }

  return { name: hub, open, isOpen: () => opening !== null, make: createNamespace, rehearse, close }
}

// Messages of iptables, legacy and nf_tables, for a kernel module that is missing.
const LACKS_MODULE =
  /no chain\/target\/match|missing kernel module|table does not exist|insmod|rule_append failed|couldn't load (?:match|target)|extension \w+ /i

/**
 * Renders why no rules could be set, as the end of a sentence.
 * @param {string} why the message of the command
 * @param {boolean} [isRoot] this user is root
 * @returns {string}
 */
export function renderRulesFailure(why, isRoot = process.getuid?.() === 0) {
  if (LACKS_MODULE.test(why))
    return `needs modules that this kernel has not loaded: modprobe xt_REDIRECT xt_owner (a kernel without them cannot redirect): ${why}`
  if (isRoot && !/not permitted|permission denied/i.test(why)) return `cannot be set up: ${why}`
  return `needs root, or CAP_NET_ADMIN in a user namespace that has the user ${SIDECAR_USER}: ${why}`
}

/**
 * Removes every network namespace of a run whose processes have ended.
 * @param {string} runId its id
 * @param {Run} [run]
 */
export async function removeNamespaces(runId, run = runCommand) {
  const hub = `${PREFIX}${runId}`
  const names = listProcEntries(FOLDER).filter(name => name === hub || name.startsWith(`${hub}.`))
  for (const name of names) await removeNamespace(name, run)
}

/**
 * Removes a network namespace, if it exists.
 * @param {string} name
 * @param {Run} run
 */
async function removeNamespace(name, run) {
  await run(['ip', 'netns', 'delete', name]).catch(error => {
    if (!error.message.includes('No such file or directory')) throw error
  })
}

/**
 * Lists the pods of proxies, each once: the process that hands the pods to a proxy names them, too.
 * @param {Pick<ProcessSpec, 'pods'>[]} specs
 * @returns {NonNullable<ProcessSpec['pods']>}
 */
function listPods(specs) {
  return uniqueBy(
    specs.flatMap(({ pods = [] }) => pods),
    ({ service }) => service,
  )
}

/**
 * Creates the argv prefix by which a process enters a namespace.
 * @param {string} namespace its name
 * @returns {string[]} without the process's own argv
 */
function createEnterArgv(namespace) {
  return ['nsenter', `--net=${FOLDER}/${namespace}`, '--']
}

// iptables waits for a lock that another program may hold.
const DEADLINE_MS = 60_000

/** Runs a command, with a timeout. @type {Run} */
async function runCommand([program, ...argv], input = '') {
  const { failed, stdout, stderr, shortMessage } = await execa(program, argv, {
    input,
    reject: false,
    timeout: DEADLINE_MS,
  })
  if (failed) throw new BenchError([shortMessage, stderr].join(' ').trim().replaceAll(/\s+/g, ' '))
  return stdout
}
