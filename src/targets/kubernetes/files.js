import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { chooseFreeName } from '../../lib/free-name.js'
import { hashText } from '../../lib/hash.js'
import { ROOT } from '../../lib/paths.js'
import { readTextFiles } from '../../lib/text-files.js'
import { renderConfigMap, renderSecret } from './manifests.js'

/**
 * @import { ProcessSpec } from '../../model/types.ts'
 * @import { Api } from './api.js'
 * @import { Container, Folder } from './pod.js'
 */

/** The folder of the kit's code in its own pods. */
export const KIT = '/bench/kit'
// The agent imports files of these folders only (test/architecture.test.js).
const KIT_FOLDERS = ['src/agent', 'src/node', 'src/parity/beside', 'src/lib']

/** @typedef {ReturnType<typeof createFiles>} Files */

/**
 * Creates the functions that bring folders of this machine into pods, as ConfigMaps and Secrets.
 * @param {{ api: Api, namespace: string, labels: Record<string, string> }} options
 * @returns locate: chooses the path at which processes see a folder; apply: applies what a process sees
 */
export function createFiles({ api, namespace, labels }) {
  /** The paths at which processes see folders, by the folder of this machine. @type {Map<string, string>} */
  const paths = new Map()
  /** The requests that apply scripts, by the name of the ConfigMap. @type {Map<string, Promise<unknown>>} */
  const requests = new Map()

  /** Finds the folder of this machine that processes see at a path. @param {string} at @throws {Error} if there is none */
  const findSource = at => {
    for (const [source, place] of paths) if (place === at) return source
    throw new Error(`nothing is at ${at}`)
  }

  /**
   * Applies the scripts of a folder as a ConfigMap, named after its content: once a run, unless the request fails.
   * @param {string} at the path at which processes see the folder
   * @returns {Promise<Folder>}
   * @throws as `apply` below; the system's error if a script cannot be read
   */
  async function applyScripts(at) {
    const files = readTextFiles(findSource(at))
    const name = `scripts-${hashText(JSON.stringify(files)).slice(0, 10)}`
    if (!requests.has(name)) requests.set(name, api.apply(renderConfigMap({ name, namespace, labels, files })))
    await requests.get(name)?.catch(error => {
      requests.delete(name)
      throw error
    })
    return { path: at, configMap: name, names: Object.keys(files) }
  }

  /**
   * Applies the credentials of a process as a Secret.
   * @param {string[]} credentials their paths as the process sees them, all in one folder
   * @param {{ name: string, labels: Record<string, string> }} metadata
   * @returns {Promise<Folder>}
   * @throws as `apply` below; the system's error if a file cannot be read
   */
  async function applyCredentials(credentials, { name, labels }) {
    const at = path.posix.dirname(credentials[0])
    const source = findSource(at)
    const names = credentials.map(file => path.posix.basename(file))
    const files = Object.fromEntries(names.map(file => [file, readFileSync(path.join(source, file), 'utf8')]))
    await api.apply(renderSecret({ name, namespace, labels, files }))
    return { path: at, secret: name, names }
  }

  return {
    /**
     * Chooses the path at which processes see a folder: with its own name, and with a number if another folder has that path.
     * @param {string} source a folder of this machine
     * @returns {string} the same one for each call
     */
    locate(source) {
      const taken = new Set([...paths.values(), KIT])
      const base = `/bench/${path.basename(source)}`
      const at = paths.get(source) ?? chooseFreeName(taken, suffix => `${base}${suffix}`)
      paths.set(source, at)
      return at
    },

    /**
     * Applies what a process sees: its scripts, its rendered files, its credentials. It copies the rendered files to a folder here.
     * @param {ProcessSpec} spec
     * @param {{ name: string, labels: Record<string, string>, folder: string }} options name: of the ConfigMap and the Secret;
     *   folder: for the copies
     * @returns {Promise<Container>} folders: []: it sees none
     * @throws {BenchError} if an object is refused; {SiteLostError} if the API server does not answer; {Error} for a path that
     *   `locate` has not chosen; the system's error if a file here cannot be read or written
     */
    async apply(spec, { name, labels, folder }) {
      /** @type {Folder[]} */
      const folders = await Promise.all(spec.scripts.map(applyScripts))
      if (spec.files.length > 0) {
        const files = Object.fromEntries(spec.files.map(file => [file.name, file.content]))
        writeFiles(path.join(folder, spec.service), files)
        await api.apply(renderConfigMap({ name, namespace, labels, files }))
        folders.push({ path: spec.folder, configMap: name, names: Object.keys(files) })
      }
      if (spec.credentials.length > 0) folders.push(await applyCredentials(spec.credentials, { name, labels }))
      return { spec, folders }
    },
  }
}

/**
 * Writes files below a folder.
 * @param {string} folder is made if there is none
 * @param {Record<string, string>} files text by path below it
 * @throws the system's error if one cannot be written
 */
function writeFiles(folder, files) {
  for (const [name, text] of Object.entries(files)) {
    const file = path.join(folder, name)
    mkdirSync(path.dirname(file), { recursive: true })
    writeFileSync(file, text)
  }
}

/**
 * Reads the kit's own code that runs in pods, with a package.json that makes Node read it as modules.
 * @returns {Record<string, string>} text by path, as below ROOT
 * @throws the system's error if a file cannot be read
 */
export function readAgentCode() {
  const files = KIT_FOLDERS.flatMap(folder =>
    Object.entries(readTextFiles(path.join(ROOT, folder))).map(([name, text]) => [`${folder}/${name}`, text]),
  )
  return { 'package.json': '{ "type": "module" }\n', ...Object.fromEntries(files) }
}
