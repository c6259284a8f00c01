import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { hashText } from '../../lib/hash.js'
import { ROOT } from '../../lib/paths.js'
import { readTextFiles } from '../../lib/text-files.js'
import { renderFiles } from './manifests.js'

/**
 * @import { ProcessSpec } from '../../model/types.ts'
 * @import { Api } from './api.js'
 */

/** The folder of the kit's code in its own pods. */
export const KIT = '/bench/kit'
// node/ and parity/beside import nothing else (test/architecture.test.js).
const KIT_FOLDERS = ['src/agent', 'src/node', 'src/parity/beside', 'src/lib']

/**
 * Creates the functions that bring folders of this machine into pods, as ConfigMaps and Secrets.
 * @param {{ api: Api, namespace: string, labels: Record<string, string> }} options
 * @returns locate: gives the path at which processes see a folder; apply: applies what a process sees
 */
export function createFiles({ api, namespace, labels }) {
  /** The paths at which processes see folders, by the folder of this machine. @type {Map<string, string>} */
  const located = new Map()
  /** @type {Map<string, Promise<unknown>>} */
  const applied = new Map()

  /** Finds the folder of this machine that processes see at a path. @param {string} at */
  const findSource = at => {
    for (const [source, place] of located) if (place === at) return source
    throw new Error(`nothing is at ${at}`)
  }

  /**
   * Applies the scripts of a folder as a ConfigMap: once a run, named after its content.
   * @param {string} at the path at which processes see the folder
   */
  async function applyScripts(at) {
    const files = readTextFiles(findSource(at))
    const name = `scripts-${hashText(JSON.stringify(files)).slice(0, 10)}`
    if (!applied.has(name)) applied.set(name, api.apply(renderFiles({ name, namespace, labels, files })))
    await applied.get(name)?.catch(error => {
      applied.delete(name)
      throw error
    })
    return { path: at, configMap: name, names: Object.keys(files) }
  }

  return {
    /**
     * Chooses the path at which a process sees a folder: with its own name, and with a number if another folder has that path.
     * @param {string} source a folder of this machine
     * @returns {string} the same one for each call
     */
    locate(source) {
      const taken = new Set([...located.values(), KIT])
      const base = `/bench/${path.basename(source)}`
      let at = located.get(source) ?? base
      for (let n = 2; !located.has(source) && taken.has(at); n++) at = `${base}-${n}`
      located.set(source, at)
      return at
    },

    /**
     * Applies what a process sees: its scripts, its rendered files, its credentials.
     * @param {ProcessSpec} spec
     * @param {{ name: string, labels: Record<string, string>, folder: string }} at
     *   folder: here, for copies of the rendered files
     * @returns {Promise<import('./pod.js').Container>}
     */
    async apply(spec, { name, labels, folder }) {
      const folders = await Promise.all(spec.scripts.map(applyScripts))
      if (spec.files.length > 0) {
        const files = Object.fromEntries(spec.files.map(f => [f.name, f.content]))
        for (const { name, content } of spec.files) {
          const copy = path.join(folder, spec.service, name)
          mkdirSync(path.dirname(copy), { recursive: true })
          writeFileSync(copy, content)
        }
        await api.apply(renderFiles({ name, namespace, labels, files }))
        folders.push({ path: spec.folder, configMap: name, names: Object.keys(files) })
      }
      if (spec.credentials.length === 0) return { spec, folders }
      const credentialsPath = path.posix.dirname(spec.credentials[0])
      const names = spec.credentials.map(file => path.posix.basename(file))
      const read = (/** @type {string} */ file) => readFileSync(path.join(findSource(credentialsPath), file), 'utf8')
      const files = Object.fromEntries(names.map(file => [file, read(file)]))
      await api.apply(renderFiles({ name, namespace, labels, files, isSecret: true }))
      return { spec, folders: [...folders, { path: credentialsPath, secret: name, names }] }
    },
  }
}

/**
 * Reads the kit's own code that runs in pods. A package.json makes Node read it as modules.
 * @returns {Record<string, string>} text by path
 */
export function readAgentCode() {
  const files = KIT_FOLDERS.flatMap(folder =>
    Object.entries(readTextFiles(path.join(ROOT, folder))).map(([name, text]) => [`${folder}/${name}`, text]),
  )
  return { 'package.json': '{ "type": "module" }\n', ...Object.fromEntries(files) }
}
