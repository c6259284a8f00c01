import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { BenchError, BrokenToolError } from '../lib/errors.js'
import { hashFile } from '../lib/hash.js'
import { parseJson } from '../lib/json.js'
import { findNoexec } from '../lib/mounts.js'
import { locateCacheFolder } from '../lib/paths.js'
import { isProgram } from '../lib/programs.js'
import { hashSource, isBuilt } from './sources.js'
import { askVersion } from './version.js'

/** @import { Tool, ToolSpec } from '../model/types.ts' */

// When a fetch is reported. One without a network fails sooner: then only the reason why the program is missing is said.
const SAY_SECONDS = 6

/**
 * Options of the search for a program.
 * @typedef {object} Finding
 * @property {NodeJS.ProcessEnv} environment
 * @property {typeof import('./fetch.js').fetchTool | null} fetch null: nothing is fetched or built
 * @property {(line: string) => void} say gets a line if a fetch takes long, or a program is unchecked
 * @property {AbortSignal} [signal]
 * @property {string} [option] of the command line by which the program was named, if not by its variable
 */

/**
 * Finds a program: at the path of its spec, else at that of its variable, else on PATH, else in the cache; else it is fetched or
 * built. A program that a package carries, or that the user gets elsewhere, is looked for up to PATH only.
 * @param {ToolSpec} spec
 * @param {Partial<Finding>} [options]
 * @returns {Promise<Tool | { missing: string }>} missing: where it was looked for, and what to do
 * @throws {BenchError} if the program found has another version than wanted, does not run, or is not what was fetched; the signal's reason
 */
export async function findTool(spec, options = {}) {
  /** @type {Finding} */
  const finding = { environment: process.env, fetch: fetchLater, say: () => {}, ...options }
  const { environment, signal } = finding
  signal?.throwIfAborted()
  if (spec.path) return probeTool(spec, { program: spec.path, source: '--planes', signal })
  const named = environment[spec.variable]
  if (named) {
    const by = finding.option ?? spec.variable
    const source = `${by}${finding.option ? ' ' : '='}${named}`
    return probeTool(spec, { program: path.resolve(named), source, by, signal })
  }

  const onPath = await findOnPath(spec.name, environment.PATH ?? '')
  if (onPath) return probeTool(spec, { program: onPath, source: 'PATH', signal })

  if (spec.package) {
    const missing = `no ${spec.name} in ${spec.variable} or PATH: apt install ${spec.package}, or set ${spec.variable} to its path`
    return { missing }
  }
  if (spec.source) {
    const missing = `no ${spec.name} in ${spec.variable} or PATH: set ${spec.variable} to its path (${spec.source})`
    return { missing }
  }
  const version = isBuilt(spec.name) ? `-${hashSource(spec.name).slice(0, 12)}` : ''
  const folder = path.join(locateCacheFolder(), `${spec.name}${version}`)
  const program = path.join(folder, spec.name)
  const isCached = isProgram(program)
  const sha256 = isCached ? await hashAsFetched(folder, spec.name) : null
  if (sha256 !== null) return probeTool(spec, { program, source: 'cache', sha256, signal })

  const mount = findNoexec(folder)
  if (mount !== null)
    return {
      missing: `no ${spec.name} in ${spec.variable} or PATH, and nothing is fetched to ${folder}: no program of ${mount} may be executed, which is mounted with noexec: set SIDECAR_BENCH_CACHE to a folder elsewhere`,
    }
  const why = await fetchInto(folder, spec, finding)
  if (why === null) return probeTool(spec, { program, source: 'fetched', signal })
  if (!isCached) return { missing: `no ${spec.name} in ${spec.variable}, PATH or ${folder}${why}` }
  finding.say(`${program} is used unchecked: it was fetched before the kit kept the hash of programs${why}`)
  return probeTool(spec, { program, source: 'cache', signal })
}

/** Fetches by a module that is loaded on demand, as few runs need it. @type {typeof import('./fetch.js').fetchTool} */
async function fetchLater(...fetched) {
  const { fetchTool } = await import('./fetch.js')
  return fetchTool(...fetched)
}

/**
 * Fetches or builds a program.
 * @param {string} folder
 * @param {ToolSpec} spec
 * @param {Finding} finding
 * @returns null: it was fetched; else why not, as the end of a sentence; empty: it may not be
 * @throws the signal's reason
 */
async function fetchInto(folder, spec, { fetch, say, signal }) {
  const { name } = spec
  if (fetch === null) return ''
  const doing = isBuilt(name) ? 'building' : 'fetching'
  const saying = setTimeout(() => say(`${doing} ${name}`), SAY_SECONDS * 1000)
  try {
    await fetch(spec, folder, signal)
    return null
  } catch (error) {
    signal?.throwIfAborted()
    return `, and it cannot be ${isBuilt(name) ? 'built' : 'fetched'}: ${/** @type {Error} */ (error).message}`
  } finally {
    clearTimeout(saying)
  }
}

/**
 * Hashes a program in the cache.
 * @param {string} folder
 * @param {string} name
 * @returns {Promise<string | null>} null: no hash of it was kept
 * @throws {BenchError} if it has another hash than that which was kept
 */
async function hashAsFetched(folder, name) {
  const fetched = parseJson(await readFile(path.join(folder, 'origin.json'), 'utf8').catch(() => ''))?.programSha256
  if (typeof fetched !== 'string') return null
  const sha256 = await hashFile(path.join(folder, name))
  if (sha256 === fetched) return sha256
  throw new BenchError(
    `${path.join(folder, name)} is not what was fetched: its SHA-256 is ${sha256}, and was ${fetched}; remove the folder ${folder} to have it fetched again`,
  )
}

/**
 * Runs a program for its version, and makes the entry of the tools.
 * @param {ToolSpec} spec
 * @param {object} options
 * @param {string} options.program its path
 * @param {string} options.source where it was found, in words
 * @param {string} [options.by] the variable or option that errors say to set; that of the spec by default
 * @param {string} [options.sha256] absent: it is computed
 * @param {AbortSignal} [options.signal]
 * @throws {BrokenToolError} if it does not run, or prints no version
 * @throws {BenchError} if the version is not accepted
 */
async function probeTool(spec, { program, source, by = spec.variable, sha256, signal }) {
  const otherwise = spec.package ? `apt install ${spec.package}` : 'take it away to have the kit fetch its own'
  const advice = spec.path
    ? 'name another'
    : by.startsWith('--')
      ? `give ${by} one that is ${spec.wanted}`
      : `set ${by} to one that is ${spec.wanted}, or ${otherwise}`
  const { version, library, failed, said } = await askVersion(spec, program, { signal })
  if (!version) {
    const how = `${failed ? 'does not run' : 'tells no version'}: ${said || 'it printed nothing'}`
    throw new BrokenToolError(`${program} (${source}) ${how}; wanted ${spec.name} ${spec.wanted}: ${advice}`)
  }
  if (!spec.isAccepted(version))
    throw new BenchError(`${program} (${source}) is ${spec.name} ${version}, wanted ${spec.wanted}: ${advice}`)
  const hash = sha256 ?? (await hashFile(program))
  return { name: spec.name, path: program, version, ...(library && { library }), sha256: hash, source }
}

/**
 * Finds the absolute path of a program in the folders of a search path, in their order.
 * @param {string} name
 * @param {string} searchPath as in PATH: an empty part is the current folder
 * @returns {Promise<string | null>} null: no folder has one that may be run
 */
export async function findOnPath(name, searchPath) {
  for (const folder of searchPath.split(path.delimiter)) {
    const file = path.join(folder || '.', name)
    if (isProgram(file)) return path.resolve(file)
  }
  return null
}
