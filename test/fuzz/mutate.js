import { parse, stringify } from 'yaml'

/**
 * Inputs that are nearly right: a text or a value with a few changes, each from a seed.
 */

/** @typedef {() => number} Random in [0, 1) */

const NAMES = ['__proto__', 'constructor', 'toString', 'prototype', 'hasOwnProperty', 'length', '']
const WORDS = [
  ...NAMES,
  ...['../../../../tmp/fuzz-escaped', '/tmp/fuzz-escaped', 'a\0b', '\x1b[2J', '=cmd', '%00', '\u202e', '💥', '\ud800'],
  ...['NaN', 'Infinity', '-1', '0', '1e999', '-0', '0x10', '9'.repeat(400), '1_000', '99999999999999999999'],
  ...'null true {} [] " \' ` \\ { } [ ] : , - = / @ #'.split(' '),
  ...['\n', '\r\n', '\t', ' '],
  ...['&a', '*a', '<<: *a', '!!js/function x', '%YAML 9', '---', '...'],
  ...['|', '>', '? ', '!<tag:yaml.org,2002:binary> AA'],
]
const VALUES = [
  ...[null, true, false, 0, -1, 1, 0.5, -0.5, 1e-320, 1e308, -1e308, 2 ** 53, 2 ** 31, 1e9, '', 'x', '1', 'NaN'],
  ...[[], {}, [null], [[]], { a: 1 }, [1, 2, 3], 'x'.repeat(5000), '\x1b[2J\n', '../../x', ...NAMES],
]

/** @template T @param {T[]} items @param {Random} random */
export const pick = (items, random) => items[Math.floor(random() * items.length)]

/** A text with one to four changes. @param {string} text @param {Random} random */
export function mutateText(text, random) {
  let result = text
  for (let left = 1 + Math.floor(random() * 4); left > 0; left--) result = changeText(result, random)
  return result
}

/** @param {string} text @param {Random} random */
function changeText(text, random) {
  const at = Math.floor(random() * (text.length + 1))
  const to = Math.min(text.length, at + 1 + Math.floor(random() ** 3 * 60))
  const [before, part, after] = [text.slice(0, at), text.slice(at, to), text.slice(to)]
  const ways = [
    () => before,
    () => before + after,
    () => before + part + part + after,
    () => before + part.repeat(1 + Math.floor(100 * random() ** 3)) + after,
    () => before + pick(WORDS, random) + part + after,
    () => before + pick(WORDS, random) + after,
    () => before + String.fromCharCode(Math.floor(random() * 256)) + after,
    () => before + [...part].reverse().join('') + after,
    () => text.replace(pickMatch(text, /-?\d+(?:\.\d+)?/g, random), () => `${pick(WORDS, random)}`),
    () => text.replace(pickMatch(text, /[A-Za-z_]\w*/g, random), () => `${pick(WORDS, random)}`),
    () => moveLine(text, random),
  ]
  if (random() < 0.0005) return `${before}${'['.repeat(5000)}${after}`
  return pick(ways, random)()
}

/** @param {string} text @param {RegExp} pattern @param {Random} random */
function pickMatch(text, pattern, random) {
  return pick([...text.matchAll(pattern)].map(([match]) => match).concat('\0none'), random)
}

/** @param {string} text @param {Random} random */
function moveLine(text, random) {
  const lines = text.split('\n')
  const [line] = lines.splice(Math.floor(random() * lines.length), 1)
  lines.splice(Math.floor(random() * (lines.length + 1)), 0, line)
  return lines.join('\n')
}

/**
 * A value of JSON with one to four changes, somewhere in it.
 * @param {unknown} value @param {Random} random @returns {any}
 */
export function mutateValue(value, random) {
  let result = structuredClone(value)
  for (let left = 1 + Math.floor(random() * 4); left > 0; left--) result = changeValue(result, random)
  return result
}

/** @param {any} value @param {Random} random @returns {any} */
function changeValue(value, random) {
  const isParent = typeof value === 'object' && value !== null
  // The top changes seldom: most of what is wrong is deep inside.
  if (!isParent || random() < 0.02) return structuredClone(pick(VALUES, random))
  const names = Object.keys(value)
  const name = pick(names, random)
  const ways = [
    () => define(value, name, structuredClone(pick(VALUES, random))),
    () => delete value[name],
    () => define(value, pick(NAMES, random), structuredClone(pick([value[name], ...VALUES], random))),
    () => define(value, name, structuredClone(value[pick(names, random)])),
    () => Array.isArray(value) && value.push(structuredClone(value[0])),
    () => typeof value[name] === 'number' && define(value, name, value[name] * pick([-1, 1e9, 1e-9, 0.5], random)),
  ]
  if (name === undefined)
    define(value, Array.isArray(value) ? '0' : pick(NAMES, random), structuredClone(pick(VALUES, random)))
  else if (typeof value[name] === 'object' && value[name] !== null && random() < 0.85)
    define(value, name, changeValue(value[name], random))
  else pick(ways, random)()
  return value
}

/** Sets a member of its own, also one named `__proto__`. @param {any} at @param {string} name @param {unknown} value */
function define(at, name, value) {
  if (Array.isArray(at) && name === 'length') return
  Object.defineProperty(at, name, { value, enumerable: true, writable: true, configurable: true })
}

/** Values of the texts that are changed; parsing one takes longer than changing it. @type {Map<string, unknown>} */
const parsed = new Map()

/** A text of YAML, changed by its structure. @param {string} text @param {Random} random */
export function mutateYaml(text, random) {
  if (!parsed.has(text)) parsed.set(text, parse(text))
  return stringify(mutateValue(parsed.get(text), random))
}

/** A text of JSON, changed as a value or as a text. @param {unknown} value @param {Random} random */
export function mutateJson(value, random) {
  const text = JSON.stringify(random() < 0.75 ? mutateValue(value, random) : value)
  return random() < 0.3 ? mutateText(text, random) : text
}
