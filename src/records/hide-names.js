import { escapePattern } from '../lib/escape-pattern.js'
import { parseJson } from '../lib/json.js'

/** Replaces the names of machines and people in the files of a run, and shortens absolute paths. */

// Options whose value names a host, a node, a user or a namespace, or is a URL with one.
const HOST_OPTIONS = /^--(?:load-host|address|context|node|load-node|namespace|live|metrics)(?:=(.+))?$/
const HIDDEN = 'hidden'
// The colon after a key is part of the match: it keeps a key from being taken for a value.
const STRING = /"(?:[^"\\]|\\.)*"(?:\s*:)?/g
const LINE = /^.*$/gm
const NUMBER = /^\d+(?:\.\d+)?$/
const NOTHING = /(?!)/g
// A path begins a string or a word. /proc, /sys and /dev are the same on every machine, so paths in them stay.
const PATH =
  /(?<=^|[\s"'`=:,;()[\]{}<>|]|\\[nrt])\/(?!(?:proc|sys|dev)\/)(?:[^\s/"'`\\=:,;()[\]{}<>|]+\/)+[^\s/"'`\\=:,;()[\]{}<>|]*/gm

/**
 * Creates functions that replace names by `hidden`, make paths in `folders` relative, and shorten other absolute paths to their last
 * part. Every file of a run is changed alike, so its numbers still agree.
 * @param {Record<string, string>} files of the run: text by name, with manifest.json
 * @param {{ folders: string[], names: string[] }} options folders: of this machine; names: of it and its user
 * @returns {{ hide: (text: string) => string, hideInFile: (file: string, text: string) => string, keptNames: string[] }}
 *   hide: in any text; hideInFile: in the text of a log or a JSON file; keptNames: names that stay, since an arm, a tool or a topology
 *   has them too, or a key of a document is the same
 */
export function createNameHider(files, { folders, names }) {
  const manifest = parseJson(files['manifest.json'])
  const publicNames = JSON.stringify([manifest?.arms, Object.keys(manifest?.tools ?? {}), manifest?.topologies])
  const texts = Object.values(files)
  // Ids of arms join names by hyphens. A key of a document must stay, or no kit could read it.
  const isPublic = (/** @type {string} */ name) =>
    new RegExp(String.raw`(?<!\w)${escapePattern(name)}(?!\w)`).test(publicNames) ||
    texts.some(text => text.includes(`${JSON.stringify(name)}:`))
  // The longest come first: one name may begin with another.
  const allNames = [...new Set([...listHosts(manifest), ...names])].filter(Boolean).sort((a, b) => b.length - a.length)
  const hiddenNames = allNames.filter(name => !isPublic(name))
  const namePattern = createWordPattern(hiddenNames)
  const wordPattern = createWordPattern(hiddenNames.filter(name => !NUMBER.test(name)))
  const numberPattern = createNumberPattern(hiddenNames.filter(name => NUMBER.test(name)))
  const shortenPaths = createPathShortener(folders)
  const hide = (/** @type {string} */ text) => shortenPaths(text).replace(namePattern, HIDDEN)
  // In a log line, a name that is a number stays: it may be one that `verify` reads.
  const hideInLine = (/** @type {string} */ line) => shortenPaths(line).replace(wordPattern, HIDDEN)
  // A bare number in JSON is no name, but a string of digits may be: a host may be named 42.
  const hideInString = (/** @type {string} */ string) => hideInLine(string).replace(numberPattern, `$1${HIDDEN}"`)
  const hideInJson = (/** @type {string} */ json) => replaceStrings(json, hideInString)
  const hideInFile = (/** @type {string} */ file, /** @type {string} */ text) => {
    if (!file.endsWith('.log')) return hideInJson(text)
    return text.replace(LINE, line => (line.startsWith('{') ? hideInJson(line) : hideInLine(line)))
  }
  return { hide, hideInFile, keptNames: allNames.filter(name => !hiddenNames.includes(name)) }
}

/**
 * Creates a pattern of words that stand alone: no letter, digit, underscore or hyphen is beside them.
 * @param {string[]} words
 * @returns {RegExp} that matches nothing without words
 */
function createWordPattern(words) {
  if (words.length === 0) return NOTHING
  return new RegExp(String.raw`(?<![\w-])(?:${words.map(escapePattern).join('|')})(?![\w-])`, 'g')
}

/**
 * Creates a pattern of numbers that are a whole JSON string, or follow = or @ at its end: a host may be named 42.
 * @param {string[]} numbers
 * @returns {RegExp} that matches nothing without numbers; its group is the character before the number
 */
function createNumberPattern(numbers) {
  if (numbers.length === 0) return NOTHING
  return new RegExp(`(["=@])(?:${numbers.map(escapePattern).join('|')})"$`)
}

/**
 * Creates a function that makes paths in some folders relative to them, and shortens other absolute paths to their last part.
 * @param {string[]} folders absolute; the root is left out
 * @returns {(text: string) => string}
 */
function createPathShortener(folders) {
  const roots = folders
    .map(folder => folder.replace(/\/$/, ''))
    .filter(Boolean)
    .sort((a, b) => b.length - a.length)
    .map(folder => new RegExp(String.raw`(?<![\w.-])${escapePattern(folder)}/`, 'g'))
  return text => {
    const relative = roots.reduce((shortened, root) => shortened.replace(root, ''), text)
    return relative.replace(PATH, absolute => `${absolute.split('/').filter(Boolean).at(-1)}`)
  }
}

/**
 * Replaces each string of a JSON text, with its quotes and, if it is a key, its colon. Equal strings are computed once.
 * @param {string} json
 * @param {(string: string) => string} replace
 * @returns {string}
 */
function replaceStrings(json, replace) {
  /** @type {Map<string, string>} */
  const replacements = new Map()
  return json.replace(STRING, string => {
    const replacement = replacements.get(string) ?? replace(string)
    replacements.set(string, replacement)
    return replacement
  })
}

/**
 * Lists the hosts, nodes, users and namespaces that the options and the machine of a run name: as they are in its manifest, and
 * their parts without scheme and port.
 * @param {any} manifest undefined: it is damaged
 * @returns {string[]} some are empty, or given twice
 */
function listHosts(manifest) {
  /** @type {string[]} */
  const command = Array.isArray(manifest?.command) ? manifest.command.map(String) : []
  const words = command.map((word, i) => {
    const [option, value] = HOST_OPTIONS.exec(word) ?? []
    return option ? (value ?? command[i + 1]) : ''
  })
  const { loadHost, node, cluster } = manifest?.machine ?? {}
  const nodes = manifest?.target === 'kubernetes' ? [node, cluster] : []
  return [...words, loadHost?.host, ...nodes]
    .map(word => `${word ?? ''}`)
    .flatMap(word => [word, ...word.replace(/^(?:\w+:\/\/|[^=]+=)/, '').split(/@|:\d+$/)])
}
