import { execa } from 'execa'
import { BenchError } from '../../lib/errors.js'
import { AS_SIDECAR, SIDECAR_USER } from '../../model/sidecar-contract.js'
import { listProcEntries } from '../../node/kernel/proc-files.js'
import { renderRedirectRules } from '../iptables-rules.js'
import { NETNS_FOLDER, NETNS_PREFIX } from './network-runs.js'

/**
 * A bridge joins the network namespaces of a run. It is in a namespace, too, so the machine's own interfaces, routes and rules stay
 * as they are, and all is gone with the namespaces.
 * @import { Ledger } from '../../model/types.ts'
 */

/**
 * Runs a command with a text as its stdin. It resolves with its stdout, and rejects with a BenchError if it fails.
 * @typedef {(argv: string[], input?: string) => Promise<string>} Run
 */

const BRIDGE = 'bench'
// Peers of the sidecar's tunnels have addresses in it; the kernel translates an address only after it has found a route to it.
const TRANSLATED = '198.19.0.0/16'

/**
 * Creates the functions for the bridge of a run, and for namespaces on it. It creates nothing yet.
 * @param {object} options
 * @param {Ledger} options.ledger
 * @param {Record<string, string>} options.commonAddresses the addresses of prober and generator, which all starts share
 * @param {Run} options.run
 * @param {string} options.iptables the command whose `-restore` sets rules
 * @returns name: of the bridge's namespace; open: creates the bridge, at its first call; isOpen: says whether that was called;
 *   createNetworkNamespace: creates a namespace on it; rehearse: tests one; close: removes all
 */
export function createBridge({ ledger, commonAddresses, run, iptables }) {
  const bridge = `${NETNS_PREFIX}${ledger.runId}`
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
   * @throws {BenchError} if a command fails
   */
  async function createNetworkNamespace(name, address, { rules, hasTranslations = false }) {
    const link = `v${++links}`
    await run(['ip', 'netns', 'add', name])
    await runIp(bridge, [
      `link add ${link} type veth peer name eth0 netns ${name}`,
      `link set ${link} master ${BRIDGE} up`,
    ])
    const routes = hasTranslations ? [`route add ${TRANSLATED} dev eth0`] : []
    await runIp(name, ['link set lo up', `address add ${address}/16 dev eth0`, 'link set eth0 up', ...routes])
    if (rules !== null) await run([...createNsenterArgv(name), `${iptables}-restore`, '-w'], rules)
  }

  /**
   * Creates the bridge, and the namespaces of prober and generator, and enters them in the ledger.
   * @throws {BenchError} if a command fails
   */
  async function setUpBridge() {
    ledger.hold('netns', bridge)
    await run(['ip', 'netns', 'add', bridge])
    await runIp(bridge, [`link add ${BRIDGE} type bridge`, `link set ${BRIDGE} up`])
    for (const [service, address] of Object.entries(commonAddresses))
      await createNetworkNamespace(`${bridge}.${service}`, address, { rules: null })
  }

  const open = () => (opening ??= setUpBridge())

  /**
   * Removes all namespaces of the run, and strikes them from the ledger. It does nothing if `open` was never called.
   * @throws {BenchError} if one cannot be removed
   */
  async function close() {
    await opening?.catch(() => {})
    if (opening === null) return
    await removeNetworkNamespaces(ledger.runId, run)
    opening = null
    ledger.release('netns', bridge)
  }

  /**
   * Creates a namespace with rules, runs a program in it as a sidecar, and removes it. The bridge is opened for it, and stays; if
   * a step fails, all namespaces of the run are removed.
   * @param {string} address of the namespace
   * @throws {BenchError} if that fails, with advice
   */
  async function rehearse(address) {
    const name = `${bridge}.0.rehearsal`
    try {
      await open()
      await createNetworkNamespace(name, address, { rules: renderRedirectRules({ inbound: 1, outbound: 2 }, [3]) })
      await run([...createNsenterArgv(name), ...AS_SIDECAR, 'true'])
      await removeNetworkNamespace(name, run)
    } catch (error) {
      await close()
      const why = /** @type {Error} */ (error).message
      throw new BenchError(`--interception redirect ${renderRulesFailure(why)}`, { cause: error })
    }
  }

  return { name: bridge, open, isOpen: () => opening !== null, createNetworkNamespace, rehearse, close }
}

// Messages of iptables, legacy and nf_tables, for a kernel module that is missing.
const LACKS_MODULE =
  /no chain\/target\/match|missing kernel module|table does not exist|insmod|rule_append failed|couldn't load (?:match|target)|extension \w+ /i

/**
 * Renders why no rules could be set, as the end of a sentence.
 * @param {string} why the message of the command
 * @param {boolean} [isRoot] this user is root
 * @returns {string} the cause as far as it is known, what to do, and the message
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
 * @throws {BenchError} if one cannot be removed
 */
export async function removeNetworkNamespaces(runId, run = runCommand) {
  const bridge = `${NETNS_PREFIX}${runId}`
  const names = listProcEntries(NETNS_FOLDER).filter(name => name === bridge || name.startsWith(`${bridge}.`))
  for (const name of names) await removeNetworkNamespace(name, run)
}

/**
 * Removes a network namespace, if it exists.
 * @param {string} name
 * @param {Run} run
 * @throws {BenchError} if it cannot be removed
 */
export async function removeNetworkNamespace(name, run) {
  await run(['ip', 'netns', 'delete', name]).catch(error => {
    if (!error.message.includes('No such file or directory')) throw error
  })
}

/**
 * Creates the argv prefix by which a process enters a namespace.
 * @param {string} namespace its name
 * @returns {string[]} without the process's own argv
 */
export function createNsenterArgv(namespace) {
  return ['nsenter', `--net=${NETNS_FOLDER}/${namespace}`, '--']
}

// iptables waits for a lock that another program may hold.
const DEADLINE_MS = 60_000

/** Runs a command, for at most DEADLINE_MS. @type {Run} */
export async function runCommand([program, ...argv], input = '') {
  const { failed, stdout, stderr, shortMessage } = await execa(program, argv, {
    input,
    reject: false,
    timeout: DEADLINE_MS,
  })
  if (failed) throw new BenchError([shortMessage, stderr].join(' ').trim().replaceAll(/\s+/g, ' '))
  return stdout
}
