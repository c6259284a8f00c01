import { createReadStream } from 'node:fs'
import os from 'node:os'
import { BenchError } from '../../lib/errors.js'

/**
 * @import { Tool, ToolSpec } from '../../model/types.ts'
 * @import { Connection } from './connection.js'
 * @import { ToolSearch } from './host.js'
 */

// This script prints the path and the hash of the program $1, or nothing if it is not on PATH.
const PRINT_PATH = 'path=$(command -v "$1") && echo "$path" && sha256sum "$path"'
// This one prints the path of a copy of the program $1, and its hash if it is there. The path has the hash $2, since runs of other
// machines may have copied other builds.
const PRINT_COPY =
  'path=$([ -n "$XDG_CACHE_HOME" ] && echo "$XDG_CACHE_HOME" || echo "$HOME/.cache")/sidecar-bench/$1/$2/$1; echo "$path"; sha256sum "$path"'
// This one copies stdin to the path $1. A copy with another hash than $2 is removed: stdin ends early if this program is killed.
const COPY = `
mkdir -p "$(dirname "$1")" || exit
cat >"$1.$$" && chmod 755 "$1.$$" && arrived=$(sha256sum <"$1.$$") && echo "$arrived" &&
  [ "\${arrived%% *}" = "$2" ] && mv "$1.$$" "$1" || { rm -f "$1.$$"; exit 1; }
`

/**
 * Finds a program on another machine: on PATH, else in the kit's cache there; else it copies the program of this machine, unless a
 * Debian package carries it or the architectures differ.
 * @param {ToolSpec} spec
 * @param {ToolSearch & { connection: Connection, architecture: string | null }} options architecture: of the other machine; null:
 *   it is not known
 * @returns {Promise<Tool | { missing: string }>} missing: the reason why it can be neither found nor copied
 * @throws {BenchError} if the program there prints no version or a wrong one, or a copy is damaged; {SiteLostError} if the
 *   connection is lost; the signal's reason of the connection when it aborts
 */
export async function findRemoteTool(spec, { connection, architecture, findHere, say }) {
  const { name } = spec
  const { host } = connection
  const onPath = await readFileFacts(PRINT_PATH, name)
  if (onPath.sha256 !== null) return readTool(onPath, `PATH of ${host}`)
  const none = `no ${name} on the PATH of ${host}`
  if (spec.package) return { missing: `${none}: apt install ${spec.package} there` }
  if (architecture !== os.machine()) {
    return {
      missing: `${none}, and it is ${architecture} and this machine ${os.machine()}: install ${name} ${spec.wanted} there`,
    }
  }
  const here = await findHere(spec)
  if ('missing' in here) return { missing: `${none}, and none here to copy: ${here.missing}` }
  const copy = await readFileFacts(PRINT_COPY, name, here.sha256)
  if (copy.sha256 !== here.sha256) {
    say(`copying ${name} ${here.version} to ${host}:${copy.path}`)
    await copyProgram(here, copy.path)
  }
  return readTool({ path: copy.path, sha256: here.sha256 }, `copied to ${host}`)

  /**
   * Runs a script there that prints the path and the hash of a file.
   * @param {string} script
   * @param {string[]} args of the script
   * @returns {Promise<{ path: string, sha256: string | null }>} path: empty if the script prints none; sha256: null: the file is not
   *   there
   * @throws as `run` of the connection
   */
  async function readFileFacts(script, ...args) {
    const { stdout } = await connection.run(createShellArgv(script, ...args))
    return { path: stdout.split('\n')[0], sha256: parseHash(stdout) }
  }

  /**
   * Copies a program of this machine.
   * @param {Tool} here
   * @param {string} target the path there
   * @throws {BenchError} if the copy has another hash; as `run` of the connection
   */
  async function copyProgram(here, target) {
    const input = createReadStream(here.path)
    const { stdout, stderrTail } = await connection.run(createShellArgv(COPY, target, here.sha256), { input })
    const sha256 = parseHash(stdout)
    if (sha256 === here.sha256) return
    throw new BenchError(
      `${name} could not be copied to ${host}:${target}: its SHA-256 is ${sha256 ?? 'none'} there and ${here.sha256} here (${stderrTail || 'nothing was said'}); make room there, or install ${name} ${spec.wanted} on its PATH`,
    )
  }

  /**
   * Reads the version of a program there, and asserts that the kit accepts it.
   * @param {{ path: string, sha256: string | null }} file
   * @param {string} source where it was found, in words
   * @returns {Promise<Tool>}
   * @throws {BenchError} if it prints no version, or a wrong one; as `run` of the connection
   */
  async function readTool({ path, sha256 }, source) {
    const { stdout, stderrTail } = await connection.run([path, ...spec.versionArgv])
    const version = spec.parseVersion(`${stdout}\n${stderrTail}`)
    const advice = `install ${name} ${spec.wanted} on its PATH`
    if (version === null)
      throw new BenchError(`${path} on ${host} tells no version: ${stderrTail || stdout.slice(0, 200)}; ${advice}`)
    if (!spec.isAccepted(version))
      throw new BenchError(`${path} on ${host} is ${name} ${version}, wanted ${spec.wanted}: ${advice}`)
    return { name, path, version, sha256: `${sha256}`, source }
  }
}

/**
 * Creates the argv that runs a script with arguments: $1, $2 and so on.
 * @param {string} script
 * @param {string[]} args
 */
function createShellArgv(script, ...args) {
  return ['/bin/sh', '-c', script, 'sh', ...args]
}

/**
 * Parses a SHA-256. A backslash precedes it if the path has special characters.
 * @param {string} text printed by sha256sum
 * @returns {string | null} in hexadecimal; null: there is none
 */
function parseHash(text) {
  return /^\\?([0-9a-f]{64}) /m.exec(text)?.[1] ?? null
}
