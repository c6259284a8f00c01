import { createReadStream } from 'node:fs'
import os from 'node:os'
import { BenchError } from '../../lib/errors.js'

/** Finds the load's program on another machine. */
/**
 * @import { Tool, ToolSpec } from '../../model/types.ts'
 * @import { Connection } from './connection.js'
 */

// $1: the name. Prints the path and the hash, or nothing if the program is not there.
const FIND = 'path=$(command -v "$1") && echo "$path" && sha256sum "$path"'
// $2: the hash, which is in the path: runs of other machines may have copied other builds.
const FIND_COPY =
  'path=$([ -n "$XDG_CACHE_HOME" ] && echo "$XDG_CACHE_HOME" || echo "$HOME/.cache")/sidecar-bench/$1/$2/$1; echo "$path"; sha256sum "$path"'
// $1: its path; $2: its hash. A copy with another hash is removed: stdin ends early if this program is killed.
const COPY = `
mkdir -p "$(dirname "$1")" || exit
cat >"$1.$$" && chmod 755 "$1.$$" && arrived=$(sha256sum <"$1.$$") && echo "$arrived" &&
  [ "\${arrived%% *}" = "$2" ] && mv "$1.$$" "$1" || { rm -f "$1.$$"; exit 1; }
`

/**
 * Finds a program on another machine: on PATH, else in the kit's cache there; else it copies the program of this machine.
 * @param {ToolSpec} spec
 * @param {{ connection: Connection, architecture: string | null, findHere: (spec: ToolSpec) => Promise<Tool | { missing: string }>,
 *   say: (line: string) => void }} options architecture: of the other machine; findHere: looks for a program on this machine
 * @returns {Promise<Tool | { missing: string }>} missing: the reason why it can be neither found nor copied
 * @throws {BenchError} if the program there prints no version or a wrong one, or a copy is damaged
 */
export async function findRemoteTool(spec, { connection, architecture, findHere, say }) {
  const { name } = spec
  const { host } = connection
  const onPath = await findFile(FIND, name)
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
  let copy = await findFile(FIND_COPY, name, here.sha256)
  if (copy.sha256 !== here.sha256) {
    say(`copying ${name} ${here.version} to ${host}:${copy.path}`)
    const sent = await connection.run(createShellArgv(COPY, copy.path, here.sha256), {
      input: createReadStream(here.path),
    })
    copy = { ...copy, sha256: parseHash(sent.stdout) }
    if (copy.sha256 !== here.sha256) {
      throw new BenchError(
        `${name} could not be copied to ${host}:${copy.path}: its SHA-256 is ${copy.sha256 ?? 'none'} there and ${here.sha256} here (${sent.said || 'nothing was said'}); make room there, or install ${name} ${spec.wanted} on its PATH`,
      )
    }
  }
  return readTool(copy, `copied to ${host}`)

  /**
   * Runs a script that prints a path and a hash.
   * @param {string} script
   * @param {string[]} args of the script
   */
  async function findFile(script, ...args) {
    const { stdout } = await connection.run(createShellArgv(script, ...args))
    return { path: stdout.split('\n')[0], sha256: parseHash(stdout) }
  }

  /**
   * Reads the version of the program there.
   * @param {{ path: string, sha256: string | null }} options
   * @param {string} source where it was found, in words
   */
  async function readTool({ path, sha256 }, source) {
    const { stdout, said } = await connection.run([path, ...spec.versionArgv])
    const version = spec.parseVersion(`${stdout}\n${said}`)
    const advice = `install ${name} ${spec.wanted} on its PATH`
    if (version === null)
      throw new BenchError(`${path} on ${host} tells no version: ${said || stdout.slice(0, 200)}; ${advice}`)
    if (!spec.isAccepted(version))
      throw new BenchError(`${path} on ${host} is ${name} ${version}, wanted ${spec.wanted}: ${advice}`)
    return { name, path, version, sha256: `${sha256}`, source }
  }
}

/**
 * Creates the argv that runs a script with arguments.
 * @param {string} script
 * @param {string[]} args
 */
function createShellArgv(script, ...args) {
  return ['/bin/sh', '-c', script, 'sh', ...args]
}

/**
 * Parses a hash. A backslash precedes it if the path has special characters.
 * @param {string} text printed by sha256sum
 * @returns {string | null} null: there is none
 */
function parseHash(text) {
  return /^\\?([0-9a-f]{64}) /m.exec(text)?.[1] ?? null
}
