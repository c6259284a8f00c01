import { constants } from 'node:fs'
import { access } from 'node:fs/promises'
import path from 'node:path'
import { execa } from 'execa'
import { BenchError } from '../lib/errors.js'
import { hashFile } from '../lib/hash.js'
import { lastLines } from '../lib/log-tail.js'
import { cacheFolder } from '../lib/paths.js'
import { fetchTool } from './fetch.js'

/**
 * @import { Tool, ToolSpec } from '../model/types.ts'
 */

const VERSION_SECONDS = 30
// Longer than a fetch takes to fail where nothing can be reached: that is said once, of what is missing.
const SAY_SECONDS = 6

/**
 * Finds a program: its variable, else PATH, else the kit's cache, else fetched now.
 * @param {ToolSpec} spec
 * @param {{ environment?: NodeJS.ProcessEnv, fetch?: typeof fetchTool | null, onFetch?: (name: string) => void }} [options]
 *   fetch null: look, but do not fetch; onFetch: called when a fetch goes on
 * @returns {Promise<Tool | { missing: string }>} missing: why it cannot be had
 * @throws {BenchError} when one is there but too old, or does not run
 */
export async function findTool(spec, { environment = process.env, fetch = fetchTool, onFetch } = {}) {
  const named = environment[spec.variable]
  if (named) return probeTool(spec, path.resolve(named), `${spec.variable}=${named}`)

  const onPath = await findOnPath(spec.name, environment.PATH ?? '')
  if (onPath) return probeTool(spec, onPath, 'PATH')

  const folder = path.join(cacheFolder(), spec.name)
  const cached = path.join(folder, spec.name)
  if (await isExecutable(cached)) return probeTool(spec, cached, 'cache')

  const notFound = `no ${spec.name} in ${spec.variable}, PATH or ${folder}`
  if (!fetch) return { missing: notFound }
  const saying = setTimeout(() => onFetch?.(spec.name), SAY_SECONDS * 1000)
  try {
    await fetch(spec.name, folder)
  } catch (error) {
    return { missing: `${notFound}, and it cannot be fetched: ${/** @type {Error} */ (error).message}` }
  } finally {
    clearTimeout(saying)
  }
  return probeTool(spec, cached, 'fetched')
}

/**
 * @param {ToolSpec} spec
 * @param {string} program
 * @param {string} source
 * @returns {Promise<Tool>}
 */
async function probeTool(spec, program, source) {
  const advice = `set ${spec.variable} to one that is ${spec.wanted}, or take it away to have the kit fetch its own`
  const { version, failed, said } = await askVersion(spec, program)
  if (!version) {
    throw new BenchError(
      `${program} (${source}) ${failed ? 'does not run' : 'tells no version'}: ${said || 'it printed nothing'}; wanted ${spec.name} ${spec.wanted}: ${advice}`,
    )
  }
  if (!spec.isAccepted(version)) {
    throw new BenchError(`${program} (${source}) is ${spec.name} ${version}, wanted ${spec.wanted}: ${advice}`)
  }
  return { name: spec.name, path: program, version, sha256: await hashFile(program), source }
}

/**
 * The version that a program prints. It is ended as soon as it has: Pipy 1.5 sometimes hangs when it should exit.
 * @param {ToolSpec} spec
 * @param {string} program
 */
async function askVersion(spec, program) {
  const child = execa(program, spec.versionArgv, {
    reject: false,
    all: true,
    stdin: 'ignore',
    timeout: VERSION_SECONDS * 1000,
  })
  let printed = ''
  for await (const line of child.iterable({ from: 'all' })) {
    printed += `${line}\n`
    const version = spec.parseVersion(printed)
    if (version) {
      child.kill('SIGKILL')
      return { version, failed: false, said: printed }
    }
  }
  const { failed, all, shortMessage } = await child
  return { version: null, failed, said: lastLines(all || shortMessage || '', 3).join(' | ') }
}

/**
 * @param {string} name of a program
 * @param {string} searchPath as in PATH
 * @returns {Promise<string | null>}
 */
export async function findOnPath(name, searchPath) {
  for (const folder of searchPath.split(path.delimiter)) {
    const file = path.join(folder || '.', name)
    if (await isExecutable(file)) return path.resolve(file)
  }
  return null
}

/** @param {string} file */
function isExecutable(file) {
  return access(file, constants.X_OK).then(
    () => true,
    () => false,
  )
}
