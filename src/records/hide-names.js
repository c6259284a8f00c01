import { parseJson } from '../lib/json.js'
import { escapePattern } from '../lib/printable.js'

/** Takes names of machines and people, and the paths of folders, out of the files of a run. */

const HOST_OPTIONS = /^--(?:load-host|address|context|node|load-node|namespace|live|metrics)(?:=(.+))?$/
const HIDDEN = 'hidden'
// A path begins a string or a word. Paths that the kernel names are the same on every machine.
const PATH =
  /(?<=^|[\s"'`=:,;()[\]{}<>|]|\\[nrt])\/(?!(?:proc|sys|dev)\/)(?:[^\s/"'`\\=:,;()[\]{}<>|]+\/)+[^\s/"'`\\=:,;()[\]{}<>|]*/gm

/**
 * Makes what hides names in a text. Every file of a run is changed alike, so its numbers still agree.
 * @param {Record<string, string>} files of the run
 * @param {{ folders: string[], names: string[] }} own folders: of this machine; names: of it and its user
 * @returns {{ hide: (text: string) => string, kept: string[] }} kept: names that stay, since an arm or a tool has them too
 */
export function createHiding(files, { folders, names }) {
  const manifest = parseJson(files['manifest.json'])
  const arms = JSON.stringify([manifest?.arms, Object.keys(manifest?.tools ?? {}), manifest?.topologies])
  const all = [...new Set([...listHosts(manifest), ...names])].filter(Boolean).sort((a, b) => b.length - a.length)
  const words = all.filter(name => !arms.includes(name))
  const name = new RegExp(String.raw`(?<![\w-])(?:${words.map(escapePattern).join('|')})(?![\w-])`, 'g')
  const roots = folders
    .map(folder => folder.replace(/\/$/, ''))
    .sort((a, b) => b.length - a.length)
    .flatMap(folder => (folder === '' ? [] : new RegExp(String.raw`(?<![\w.-])${escapePattern(folder)}/`, 'g')))
  const hide = (/** @type {string} */ text) => {
    const relative = roots.reduce((all, root) => all.replace(root, ''), text)
    const short = relative.replace(PATH, found => `${found.split('/').filter(Boolean).at(-1)}`)
    return words.length > 0 ? short.replace(name, HIDDEN) : short
  }
  return { hide, kept: all.filter(name => arms.includes(name)) }
}

/** Lists the hosts that a run names. @param {any} manifest @returns {string[]} */
function listHosts(manifest) {
  /** @type {string[]} */
  const command = manifest?.command ?? []
  const given = command.map((word, i) => {
    const [isHost, value] = HOST_OPTIONS.exec(word) ?? []
    return isHost ? (value ?? command[i + 1]) : ''
  })
  const { loadHost, node, cluster } = manifest?.machine ?? {}
  const nodes = manifest?.target === 'kubernetes' ? [node, cluster] : []
  return [...given, loadHost?.host, ...nodes]
    .map(found => `${found ?? ''}`)
    .flatMap(found => [found, ...found.replace(/^(?:\w+:\/\/|[^=]+=)/, '').split(/@|:\d+$/)])
}
