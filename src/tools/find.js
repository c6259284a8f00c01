import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { BenchError, BrokenToolError } from '../lib/errors.js'
import { hashFile } from '../lib/hash.js'
import { parseJson } from '../lib/json.js'
import { findNoexecMount } from '../lib/mounts.js'
import { locateCacheFolder } from '../lib/paths.js'
import { isProgram } from '../lib/programs.js'
import { hashSource, isBuiltByKit } from './sources.js'
import { runForVersion } from './version.js'

/** @import { Tool, ToolSpec } from '../model/types.ts' */

// A fetch that takes longer is reported. One without a network fails sooner, and shows only in the reason why the program is missing.
const SLOW_FETCH_SECONDS = 6

/**
 * Options of the search for a program.
 * @typedef {object} ToolSearch
 * @property {NodeJS.ProcessEnv} environment
 * @property {typeof import('./fetch.js').fetchTool | null} fetch fetches or builds a program; null: none is
 * @property {(line: string) => void} say gets a line if a fetch takes long, or a program is unchecked
 * @property {AbortSignal} [signal]
 * @property {string} [option] of the command line by which the program was named, if not by its variable
 */

/**
 * Finds a program: at the path of its spec, else at that of its variable, else on PATH, else in the cache; else it is fetched or
 * built. A program that a package carries, or that the user gets elsewhere, is looked for up to PATH only.
 * @param {ToolSpec} spec
 * @param {Partial<ToolSearch>} [options]
 * @returns {Promise<Tool | { missing: string }>} missing: where it was looked for, and what to do
 * @throws {BenchError} if the program has another version than wanted, or is not what was fetched
 * @throws {BrokenToolError} if the program does not run, or prints no version; also the signal's reason if it aborts, and the
 *   system's error if a file of the program or of its source cannot be read
 */
export async function findTool(spec, options = {}) {
  /** @type {ToolSearch} */
  const search = { environment: process.env, fetch: fetchOnDemand, say: () => {}, ...options }
  const { environment, signal } = search
  signal?.throwIfAborted()
  if (spec.path) return probeTool(spec, { program: spec.path, source: '--planes', signal })
  const namedPath = environment[spec.variable]
  if (namedPath) {
    const setting = search.option ?? spec.variable
    const source = `${setting}${search.option ? ' ' : '='}${namedPath}`
    return probeTool(spec, { program: path.resolve(namedPath), source, setting, signal })
  }

  const onPath = findOnPath(spec.name, environment.PATH ?? '')
  if (onPath) return probeTool(spec, { program: onPath, source: 'PATH', signal })

  if (spec.package) {
    const missing = `no ${spec.name} in ${spec.variable} or PATH: apt install ${spec.package}, or set ${spec.variable} to its path`
    return { missing }
  }
  if (spec.source) {
    const missing = `no ${spec.name} in ${spec.variable} or PATH: set ${spec.variable} to its path (${spec.source})`
    return { missing }
  }
  return findOrFetchTool(spec, search)
}

/**
 * Finds a program in the cache, or else fetches or builds it there. A cached program of which no hash was kept is fetched again,
 * and used unchecked if that fails.
 * @param {ToolSpec} spec
 * @param {ToolSearch} search
 * @returns {Promise<Tool | { missing: string }>} missing: it is not in the cache, and why it was not fetched
 * @throws {BenchError} if the program has another version than wanted, or is not what was fetched
 * @throws {BrokenToolError} if the program does not run, or prints no version; also the signal's reason if it aborts, and the
 *   system's error if a file of the program or of its source cannot be read
 */
async function findOrFetchTool(spec, search) {
  const { signal } = search
  const version = isBuiltByKit(spec.name) ? `-${hashSource(spec.name).slice(0, 12)}` : ''
  const folder = path.join(locateCacheFolder(), `${spec.name}${version}`)
  const program = path.join(folder, spec.name)
  const isCached = isProgram(program)
  const sha256 = isCached ? await hashFetchedProgram(folder, spec.name) : null
  if (sha256 !== null) return probeTool(spec, { program, source: 'cache', sha256, signal })

  const mount = findNoexecMount(folder)
  if (mount !== null)
    return {
      missing: `no ${spec.name} in ${spec.variable} or PATH, and nothing is fetched to ${folder}: no program of ${mount} may be executed, which is mounted with noexec: set SIDECAR_BENCH_CACHE to a folder elsewhere`,
    }
  const why = await fetchIntoCache(folder, spec, search)
  if (why === null) return probeTool(spec, { program, source: 'fetched', signal })
  if (!isCached) return { missing: `no ${spec.name} in ${spec.variable}, PATH or ${folder}${why}` }
  search.say(`${program} is used unchecked: it was fetched before the kit kept the hash of programs${why}`)
  return probeTool(spec, { program, source: 'cache', signal })
}

/** Fetches by a module that is loaded on demand, as few runs need it. @type {typeof import('./fetch.js').fetchTool} */
async function fetchOnDemand(...args) {
  const { fetchTool } = await import('./fetch.js')
  return fetchTool(...args)
}

/**
 * Fetches or builds a program, and says so if it takes longer than SLOW_FETCH_SECONDS. A failure is an answer, and no error.
 * @param {string} folder of the program in the cache
 * @param {ToolSpec} spec
 * @param {ToolSearch} search
 * @returns null: it was fetched; else the reason why not, as the end of a sentence; empty: nothing may be fetched
 * @throws the signal's reason if it aborts
 */
async function fetchIntoCache(folder, spec, { fetch, say, signal }) {
  const { name } = spec
  if (fetch === null) return ''
  const activity = isBuiltByKit(name) ? 'building' : 'fetching'
  const timer = setTimeout(() => say(`${activity} ${name}`), SLOW_FETCH_SECONDS * 1000)
  try {
    await fetch(spec, folder, signal)
    return null
  } catch (error) {
    signal?.throwIfAborted()
    return `, and it cannot be ${isBuiltByKit(name) ? 'built' : 'fetched'}: ${/** @type {Error} */ (error).message}`
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Computes the SHA-256 of a program in the cache, which must be the one in origin.json.
 * @param {string} folder of the program
 * @param {string} name
 * @returns {Promise<string | null>} in hexadecimal; null: origin.json is missing, unreadable or damaged, or has no hash of the program
 * @throws {BenchError} if it is another; the system's error if the program cannot be read
 */
async function hashFetchedProgram(folder, name) {
  const origin = parseJson(await readFile(path.join(folder, 'origin.json'), 'utf8').catch(() => ''))
  const fetchedSha256 = origin?.programSha256
  if (typeof fetchedSha256 !== 'string') return null
  const sha256 = await hashFile(path.join(folder, name))
  if (sha256 === fetchedSha256) return sha256
  throw new BenchError(
    `${path.join(folder, name)} is not what was fetched: its SHA-256 is ${sha256}, and was ${fetchedSha256}; remove the folder ${folder} to have it fetched again`,
  )
}

/**
 * Runs a program for its version, and creates its entry in the tools of a run.
 * @param {ToolSpec} spec
 * @param {object} options
 * @param {string} options.program its path
 * @param {string} options.source where it was found, in words
 * @param {string} [options.setting] the variable or option that names it, and is in `source` with its path; absent: none does, and
 *   errors say to set the variable of the spec
 * @param {string} [options.sha256] absent: it is computed
 * @param {AbortSignal} [options.signal]
 * @throws {BrokenToolError} if it does not run, or prints no version
 * @throws {BenchError} if the version is not accepted; also the signal's reason if it aborts, and the system's error if the
 *   program cannot be read
 */
async function probeTool(spec, { program, source, setting, sha256, signal }) {
  const { version, library, hasFailed, output } = await runForVersion(spec, program, { signal })
  const name = setting === undefined ? `${program} (${source})` : source
  const advice = renderAdvice(spec, setting ?? spec.variable)
  if (!version) {
    const fault = `${hasFailed ? 'does not run' : 'tells no version'}: ${output || 'it printed nothing'}`
    throw new BrokenToolError(`${name} ${fault}; wanted ${spec.name} ${spec.wanted}: ${advice}`)
  }
  if (!spec.isAccepted(version))
    throw new BenchError(`${name} is ${spec.name} ${version}, wanted ${spec.wanted}: ${advice}`)
  const hash = sha256 ?? (await hashFile(program))
  return { name: spec.name, path: program, version, ...(library && { library }), sha256: hash, source }
}

/**
 * Renders the advice on a program that does not run, or has another version than wanted.
 * @param {ToolSpec} spec
 * @param {string} setting the variable or option by which it was named
 * @returns {string} the end of a sentence
 */
function renderAdvice(spec, setting) {
  if (spec.path) return 'name another'
  if (setting.startsWith('--')) return `give ${setting} one that is ${spec.wanted}`
  const wish = `set ${setting} to one that is ${spec.wanted}`
  if (spec.package) return `${wish}, or apt install ${spec.package}`
  return spec.source ? `${wish}, from ${spec.source}` : `${wish}, or take it away to have the kit fetch its own`
}

/**
 * Finds the absolute path of a program in the folders of a search path, in their order.
 * @param {string} name
 * @param {string} searchPath as in PATH: an empty part is the current folder
 * @returns {string | null} null: no folder has one that may be run
 */
export function findOnPath(name, searchPath) {
  const files = searchPath.split(path.delimiter).map(folder => path.resolve(path.join(folder || '.', name)))
  return files.find(isProgram) ?? null
}
