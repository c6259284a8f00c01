import { groupBy } from '../lib/group-by.js'

/**
 * Costs by function and callers, and callgrind's files of them: https://valgrind.org/docs/manual/cl-format.html. Pure.
 * @typedef {{ total: number, stacks: Stack[] }} Profile
 */
/**
 * @typedef {object} Stack
 * @property {string[]} frames the function and its callers, the innermost first
 * @property {string} object the library or program of the function
 * @property {number} self the cost of the function itself
 */

// With so many callers nearly every stack includes a filter. More take longer, since callgrind counts each path apart.
export const CALLERS = 16

// Operators whose names contain brackets, which would look like parameters.
const SYMBOLS = /operator(<<=?|>>=?|<=>?|>=?|->\*?|<|\(\)|\[\])/g

/**
 * Parses a profile of callgrind. Stacks without a cost of their own are left out.
 * @param {string} text of the file
 * @returns {Profile} its costs are instructions; total: 0 and stacks: [] for a text without costs
 */
export function parseProfile(text) {
  const { stacks, findOrAdd } = createStacks()
  const names = { fn: new Map(), ob: new Map() }
  let object = ''
  /** @type {Stack | null} */
  let current = null
  let isCall = false
  for (const line of text.split('\n')) {
    const [, key, value] = /^(fn|ob|cfn|cob|calls)=(.*)$/.exec(line) ?? []
    if (key === 'ob') object = parseCompressedName(names.ob, value)
    else if (key === 'fn') current = findOrAdd(object, parseCompressedName(names.fn, value))
    else if (key === 'cfn') parseCompressedName(names.fn, value)
    else if (key === 'cob') parseCompressedName(names.ob, value)
    else if (key === 'calls') isCall = true
    else if (/^[-+*\d]/.test(line)) {
      const cost = Number(line.split(' ')[1] ?? 0)
      // The line after `calls=` has the cost of the callee, which counts itself.
      if (!isCall && current) current.self += cost
      isCall = false
    }
  }
  const stacksWithSelf = stacks.filter(({ self }) => self > 0)
  return { total: sumSelfCosts(stacksWithSelf), stacks: stacksWithSelf }
}

/** Sums the cost of all stacks. @param {Stack[]} stacks @returns {number} in the unit of the stacks */
export function sumSelfCosts(stacks) {
  return stacks.reduce((sum, { self }) => sum + self, 0)
}

/** Adds up stacks of the same object and frames. @param {Stack[]} stacks @returns {Stack[]} each once */
export function joinStacks(stacks) {
  const groups = groupBy(stacks, ({ object, frames }) => JSON.stringify([object, ...frames]))
  return [...groups.values()].map(group => ({ ...group[0], self: sumSelfCosts(group) }))
}

/**
 * Parses a name: callgrind writes it with its number the first time, and the number alone afterwards.
 * @param {Map<string, string>} known names by number; is changed
 * @param {string} value such as `(12) memcpy`
 * @returns {string} the whole value, if it has no number; `???`: the number is unknown
 */
function parseCompressedName(known, value) {
  const [, id, name] = /^\((\d+)\)(?: (.*))?$/.exec(value) ?? [null, value, value]
  if (name) known.set(id, name)
  return known.get(id) ?? '???'
}

/**
 * Creates a collection of the stacks of a profile. A profile of Pipy has thousands of them, of a few hundred functions, and names
 * each many times: a name is split, and a function's name shortened, once.
 * @returns {{ stacks: Stack[], findOrAdd: (object: string, name: string) => Stack }} stacks: those that were added, in their
 *   order; findOrAdd: the stack of an object and a name such as `memcpy'caller'main`, which has no cost if it is new
 */
function createStacks() {
  /** @type {Stack[]} */
  const stacks = []
  /** @type {Map<string, Map<string, Stack>>} */
  const byObject = new Map()
  /** @type {Map<string, string>} */
  const shortNames = new Map()
  const shortenOnce = (/** @type {string} */ name) => {
    const known = shortNames.get(name)
    if (known !== undefined) return known
    const short = shortenName(name)
    shortNames.set(name, short)
    return short
  }
  return {
    stacks,
    findOrAdd(object, name) {
      /** @type {Map<string, Stack>} */
      const byName = byObject.get(object) ?? new Map()
      byObject.set(object, byName)
      const known = byName.get(name)
      if (known) return known
      // A part that is a number marks recursion: a call within another call of the same function.
      const callers = name.split("'").filter(part => !/^\d+$/.test(part))
      const stack = { frames: callers.map(shortenOnce), object, self: 0 }
      byName.set(name, stack)
      stacks.push(stack)
      return stack
    },
  }
}

/**
 * Shortens a C++ name to one such as `pipy::Filter::output`: without parameters, template arguments and the type of the result.
 * @param {string} name
 * @returns {string} `name` itself: nothing is left of it
 */
export function shortenName(name) {
  let depth = 0
  let short = ''
  for (const character of name.replaceAll('(anonymous namespace)', 'anonymous').replace(SYMBOLS, 'operator')) {
    if ('<({['.includes(character)) depth++
    if (depth === 0) short += character
    if ('>)}]'.includes(character)) depth = Math.max(0, depth - 1)
  }
  const [keptName] = /(operator (new|delete)|thread-local \w+ routine)\b.*/.exec(short) ?? []
  if (keptName) return keptName
  // Before the name is the type of the result, after it a suffix of the compiler or the linker.
  const plain = short.replace(/ const$/, '').replace(/(\.(isra|constprop|part|cold)(\.\d+)?|@@?[\w.]+)+$/, '')
  return plain.split(' ').at(-1) || name
}
