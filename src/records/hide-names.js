import { parseJson } from '../lib/json.js'
import { escapePattern } from '../lib/printable.js'

/** Replaces the names of machines and people in the files of a run, and shortens absolute paths. */

// Options whose value names a host, a node, a user or a namespace.
const HOST_OPTIONS = /^--(?:load-host|address|context|node|load-node|namespace|live|metrics)(?:=(.+))?$/
const HIDDEN = 'hidden'
// The colon after a key is part of the match: it keeps a key from being taken for a value.
const STRING = /"(?:[^"\\]|\\.)*"(?:\s*:)?/g
const LINE = /^.*$/gm
const NUMBER = /^\d+(?:\.\d+)?$/
// A path begins a string or a word. /proc, /sys and /dev are the same on every machine, so paths in them stay.
const PATH =
  /(?<=^|[\s"'`=:,;()[\]{}<>|]|\\[nrt])\/(?!(?:proc|sys|dev)\/)(?:[^\s/"'`\\=:,;()[\]{}<>|]+\/)+[^\s/"'`\\=:,;()[\]{}<>|]*/gm

/**
 * Creates functions that replace names by `hidden` and shorten an absolute path to its last part. Every file of a run is
 * changed alike, so its numbers still agree.
 * @param {Record<string, string>} files of the run: text by name
 * @param {{ folders: string[], names: string[] }} options folders: of this machine; names: of it and its user
 * @returns {{ hide: (text: string) => string, hideIn: (file: string, text: string) => string, kept: string[] }} hide: in any
 *   text; hideIn: in the text of a file; kept: names that stay, since an arm, a tool or a topology has them too
 */
export function createNameHider(files, { folders, names }) {
  const manifest = parseJson(files['manifest.json'])
  const arms = JSON.stringify([manifest?.arms, Object.keys(manifest?.tools ?? {}), manifest?.topologies])
  const allNames = [...new Set([...listHosts(manifest), ...names])].filter(Boolean).sort((a, b) => b.length - a.length)
  const words = allNames.filter(name => !arms.includes(name))
  const name = new RegExp(String.raw`(?<![\w-])(?:${words.map(escapePattern).join('|')})(?![\w-])`, 'g')
  const counted = words.filter(word => !NUMBER.test(word))
  const numbers = words.filter(word => NUMBER.test(word)).map(escapePattern)
  const asNumber = numbers.length > 0 ? new RegExp(`(["=@])(?:${numbers.join('|')})"$`) : /(?!)/
  const inText = new RegExp(String.raw`(?<![\w-])(?:${counted.map(escapePattern).join('|')})(?![\w-])`, 'g')
  const roots = folders
    .map(folder => folder.replace(/\/$/, ''))
    .sort((a, b) => b.length - a.length)
    .flatMap(folder => (folder === '' ? [] : new RegExp(String.raw`(?<![\w.-])${escapePattern(folder)}/`, 'g')))
  const shorten = (/** @type {string} */ text) => {
    const relative = roots.reduce((shortened, root) => shortened.replace(root, ''), text)
    const short = relative.replace(PATH, absolute => `${absolute.split('/').filter(Boolean).at(-1)}`)
    return short
  }
  const hide = (/** @type {string} */ text) => (words.length > 0 ? shorten(text).replace(name, HIDDEN) : shorten(text))
  // In a log line, a name that is a number stays: it may be one that `verify` reads.
  const hideWords = (/** @type {string} */ line) =>
    counted.length > 0 ? shorten(line).replace(inText, HIDDEN) : shorten(line)
  // A host may be named 42: in JSON, only a string can be a name, and 42 only if it is the whole string or follows = or @ at its end.
  const hideStrings = (/** @type {string} */ json) => {
    /** @type {Map<string, string>} */
    const hiddenStrings = new Map()
    return json.replace(STRING, string => {
      const hidden = hiddenStrings.get(string) ?? hideWords(string).replace(asNumber, `$1${HIDDEN}"`)
      hiddenStrings.set(string, hidden)
      return hidden
    })
  }
  const hideText = (/** @type {string} */ file, /** @type {string} */ text) =>
    file.endsWith('.log')
      ? text.replace(LINE, line => (line.startsWith('{') ? hideStrings(line) : hideWords(line)))
      : hideStrings(text)
  return { hide, hideIn: hideText, kept: allNames.filter(name => arms.includes(name)) }
}

/**
 * Lists the hosts of a run: as they are in its manifest, and without scheme, user and port.
 * @param {any} manifest
 * @returns {string[]} some are empty
 */
function listHosts(manifest) {
  /** @type {string[]} */
  const command = manifest?.command ?? []
  const words = command.map((word, i) => {
    const [isHost, value] = HOST_OPTIONS.exec(word) ?? []
    return isHost ? (value ?? command[i + 1]) : ''
  })
  const { loadHost, node, cluster } = manifest?.machine ?? {}
  const nodes = manifest?.target === 'kubernetes' ? [node, cluster] : []
  return [...words, loadHost?.host, ...nodes]
    .map(word => `${word ?? ''}`)
    .flatMap(word => [word, ...word.replace(/^(?:\w+:\/\/|[^=]+=)/, '').split(/@|:\d+$/)])
}
