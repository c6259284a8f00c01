import path from 'node:path'
import { execa } from 'execa'
import { BenchError } from '../../lib/errors.js'
import { openConnection } from './connection.js'
import { startRemoteProcess } from './process.js'
import { findRemoteTool } from './tool.js'

/** The generator can run on another Linux machine, which ssh reaches. */
/**
 * @import { ProcessSpec, Tool, ToolSpec } from '../../model/types.ts'
 * @import { Connection, ConnectionOptions } from './connection.js'
 */

/** @typedef {Awaited<ReturnType<typeof openLoadHost>>} LoadHost */

const NEEDED_PROGRAMS = ['date', 'mktemp', 'nproc', 'setsid', 'sha256sum', 'tar']

// Each fact is a line `name=value`; the value is empty if the fact is not known.
const PRINT_FACTS = `
echo system=$(uname -s)
echo kernel=$(uname -sr)
echo architecture=$(uname -m)
echo cpus=$(nproc)
echo hostCpus=$(grep -c "^cpu[0-9]" /proc/stat)
echo cpuModel=$({ grep -m1 "^model name" /proc/cpuinfo || tr -d "\\0" </proc/device-tree/model; } 2>/dev/null | sed "s/.*: //")
echo memoryKib=$(grep -m1 "^MemTotal" /proc/meminfo | tr -dc 0-9)
echo governor=$(cat /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor 2>/dev/null)
echo client=$SSH_CONNECTION
for name in ${NEEDED_PROGRAMS.join(' ')}; do command -v $name >/dev/null || echo missing=$name; done
`

const PINGS = 8
const APART_MOST_MS = 1000

/**
 * @typedef {object} Clock
 * @property {number} aheadMs the lead of the clock there over ours, ± uncertaintyMs; negative: it lags
 * @property {number} uncertaintyMs
 * @property {number} roundTripMs of a ping
 */
/**
 * @typedef {object} ToolSearch
 * @property {(spec: ToolSpec) => Promise<Tool | { missing: string }>} findHere looks for a program on this machine
 * @property {(line: string) => void} say
 */

/**
 * Connects to another machine, reads facts about it, and measures its clock.
 * @param {ConnectionOptions & ToolSearch} options
 * @returns machine: facts; clientAddress: of this machine, as sshd there sees it, null: unknown; clock: as measured now;
 *   measureClock: measures it again; findTool, locate, start: run the generator there; close: ends everything there
 * @throws {BenchError} if no load can be made there, with the reason and advice; the signal's reason when it aborts
 */
export async function openLoadHost({ host, folder, environment, signal, findHere, say, beatMs }) {
  const connection = await openConnection({ host, folder, environment, signal, beatMs })
  try {
    const { machine, clientAddress } = await readRemoteMachine(connection)
    const clock = await measureClock(connection)
    assertClocksAgree(clock, host)
    const { locate, sendOnce } = createFileSender(connection)
    /** @type {Map<string, ReturnType<typeof findRemoteTool>>} */
    const searches = new Map()

    return {
      host,
      machine,
      clientAddress,
      clock,
      measureClock: () => measureClock(connection),
      close: connection.close,
      locate,

      /** Finds a program there, once for each name (`findRemoteTool`). @param {ToolSpec} spec */
      findTool(spec) {
        const { architecture } = machine
        const search = searches.get(spec.name) ?? findRemoteTool(spec, { connection, architecture, findHere, say })
        searches.set(spec.name, search)
        return search
      },

      /**
       * Sends scripts and credentials that are not there yet, and starts a process.
       * @param {ProcessSpec} spec
       * @param {string} folder of its log, here
       * @returns as `startRemoteProcess`, with the clock as measured just before
       * @throws {SiteLostError} if the connection is lost; {BenchError} if a file cannot be sent, or the clocks do not agree; {Error}
       *   for a path that `locate` has not chosen; the signal's reason when it aborts
       */
      async start(spec, folder) {
        connection.assertOpen()
        for (const at of spec.scripts) await sendOnce(at, ['.'])
        const names = spec.credentials.map(file => path.posix.basename(file))
        if (names.length > 0) await sendOnce(path.posix.dirname(spec.credentials[0]), names)
        const clockNow = await measureClock(connection)
        assertClocksAgree(clockNow, host)
        return startRemoteProcess({ spec, folder, connection, clock: clockNow, hostCpus: machine.hostCpus })
      },
    }
  } catch (error) {
    await connection.close()
    throw error
  }
}

/**
 * Creates the functions that bring files of this machine to the other one.
 * @param {Pick<Connection, 'run' | 'host' | 'folder'>} connection
 * @returns locate: chooses the path of a folder there; sendOnce: sends files
 */
function createFileSender({ run, host, folder }) {
  /** The paths there, by the folder of this machine. @type {Map<string, string>} */
  const paths = new Map()
  /** The transfers, by path and names. @type {Map<string, Promise<void>>} */
  const transfers = new Map()

  const send = async (/** @type {string} */ at, /** @type {string[]} */ names) => {
    const [source] = [...paths].find(([, place]) => place === at) ?? []
    if (source === undefined) throw new Error(`nothing is at ${at}`)
    const argv = ['-C', source, '-chf', '-', '--', ...names]
    const tar = execa('tar', argv, { buffer: { stdout: false }, reject: false })
    const unpack = ['/bin/sh', '-c', 'mkdir -p "$1" && tar -C "$1" -xf -', 'sh', at]
    const { exitCode, stderrTail } = await run(unpack, { input: tar.stdout })
    if (exitCode === 0 && (await tar).exitCode === 0) return
    throw new BenchError(`${source} could not be sent to ${host}:${at}: ${stderrTail || (await tar).stderr}`)
  }

  return {
    /**
     * Chooses the path that a folder will have there.
     * @param {string} source a folder of this machine
     * @returns {string} the same one for each call
     */
    locate(source) {
      const at = paths.get(source) ?? path.posix.join(folder, `${paths.size}`, path.basename(source))
      paths.set(source, at)
      return at
    },

    /**
     * Sends files of a folder, unless they were sent before. Links are followed.
     * @param {string} at the path of the folder there, which `locate` has chosen
     * @param {string[]} names of the files or folders in it
     * @throws {BenchError} if they cannot be sent; {SiteLostError} if the connection is lost; {Error} if no folder has this path; a
     *   later call with the same names throws the same
     */
    sendOnce(at, names) {
      const key = [at, ...names].join(' ')
      const transfer = transfers.get(key) ?? send(at, names)
      transfers.set(key, transfer)
      return transfer
    },
  }
}

/**
 * Reads facts about the other machine.
 * @param {Pick<Connection, 'run' | 'host'>} connection
 * @returns machine: a fact that is not known is null, 0 or `unknown`; cpus: those that a process there may use; hostCpus: all;
 *   clientAddress: of this machine, as sshd there sees it; null: it is not known
 * @throws {BenchError} if it is not Linux, or lacks a program; {SiteLostError} if the connection is lost
 */
async function readRemoteMachine({ run, host }) {
  const { stdout } = await run(['/bin/sh', '-c', PRINT_FACTS])
  const facts = [...stdout.matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => ({ name, value: value.trim() }))
  const findFact = (/** @type {string} */ factName) => facts.find(({ name }) => name === factName)?.value || null
  if (findFact('system') !== 'Linux')
    throw new BenchError(`--load-host ${host}: it is ${findFact('system') ?? 'an unknown system'}, and Linux is needed`)
  const missing = facts.filter(({ name }) => name === 'missing').map(({ value }) => value)
  if (missing.length > 0) {
    throw new BenchError(
      `--load-host ${host}: no ${missing.join(', ')} on the PATH that ssh gives there: apt install coreutils util-linux tar`,
    )
  }
  return {
    machine: {
      host,
      kernel: findFact('kernel'),
      architecture: findFact('architecture'),
      cpuModel: findFact('cpuModel') ?? 'unknown',
      cpus: Number(findFact('cpus')),
      hostCpus: Number(findFact('hostCpus')),
      memoryBytes: Number(findFact('memoryKib')) * 1024,
      governor: findFact('governor'),
    },
    clientAddress: findFact('client')?.split(' ')[0] ?? null,
  }
}

/**
 * Measures the clock of another machine by the fastest of PINGS answers, as in NTP (RFC 5905, 8). The round trip is
 * that of a ping, since keep.sh starts a program for `time`.
 * @param {Pick<Connection, 'ask' | 'host'>} connection
 * @returns {Promise<Clock>}
 * @throws {BenchError} if the clock cannot be read; {SiteLostError} if the connection is lost
 */
async function measureClock({ ask, host }) {
  let roundTripMs = Number.POSITIVE_INFINITY
  let best = { uncertaintyMs: Number.POSITIVE_INFINITY, aheadMs: 0 }
  for (let i = 0; i < PINGS; i++) {
    const pingMs = performance.now()
    await ask('ping')
    roundTripMs = Math.min(roundTripMs, performance.now() - pingMs)
    // Date.now() is cut to a millisecond, so it is half of one behind, give or take as much.
    const [sentEpochMs, sentMs] = [Date.now() + 0.5, performance.now()]
    const answer = await ask('time')
    const halfMs = (performance.now() - sentMs) / 2
    if (!/^\d{19}$/.test(answer)) {
      throw new BenchError(
        `the clock of ${host} cannot be read: date +%s%N says "${answer}" there; install GNU coreutils`,
      )
    }
    if (halfMs + 0.5 < best.uncertaintyMs)
      best = { uncertaintyMs: halfMs + 0.5, aheadMs: Number(answer) / 1e6 - (sentEpochMs + halfMs) }
  }
  return { ...best, roundTripMs }
}

/**
 * Asserts that clocks differ by at most APART_MOST_MS: more means that NTP does not set them. A smaller difference is counted out.
 * @param {Clock} clock
 * @param {string} host for the error
 * @throws {BenchError} if they differ more
 */
function assertClocksAgree({ aheadMs }, host) {
  if (Math.abs(aheadMs) <= APART_MOST_MS) return
  const seconds = (Math.abs(aheadMs) / 1000).toFixed(1)
  throw new BenchError(
    `the clock of ${host} is ${seconds} s ${aheadMs > 0 ? 'ahead of' : 'behind'} this machine's (at most ${APART_MOST_MS / 1000} s): have both set by NTP, such as with timedatectl set-ntp true`,
  )
}
