import { QUANTITIES } from '../src/judge/quantities.js'
import { tabulateBalanceDefinitions } from '../src/kinds/balance/document.js'
import { EXIT_MEANINGS } from '../src/lib/errors.js'
import { listExperiments, readAnyExperiment } from '../src/prepare/read-experiment.js'
import { tabulateDictionary } from '../src/report/dictionary.js'
import { tabulateAxes, tabulateOptions } from './options.js'
import { tabulateLacks, tabulatePlanes } from './planes.js'
import { tabulateResults } from './results.js'
import { tabulateFeatures, tabulateLinks } from './services.js'

/** The tables of the documentation that are written from the code. */

/** Groups of quantities with a table of their own: one kind of experiment has them. All others are in "Quantities". */
const QUANTITIES_OF = new Map([
  ['changes', 'Quantities of changes under load'],
  ['rollout', 'Quantities of rollouts'],
  ['growth', 'Quantities of growth'],
])
const RESULTS = await tabulateResults()
const BLOCK = /<!-- table: (.+?) -->\n[\s\S]*?<!-- end -->/g

/**
 * A page with every `<!-- table: NAME -->` filled anew.
 * @param {string} text Markdown
 * @throws where a page names a table that there is not
 */
export function fillTables(text) {
  const tables = createTables()
  return text.replace(BLOCK, (_, name) => {
    const table = tables.get(name)
    if (!table) throw new Error(`there is no table "${name}": one of ${[...tables.keys()].join(', ')}`)
    return `<!-- table: ${name} -->\n${renderTable(table)}\n<!-- end -->`
  })
}

/** @returns {Map<string, string[][]>} by name: a header, and rows */
function createTables() {
  const words = [...tabulateDictionary(), ...tabulateBalanceDefinitions()].map(
    ({ caption, columns, rows }) =>
      /** @type {[string, string[][]]} */ ([
        caption.split(':')[0],
        [columns.map(([label]) => label), .../** @type {string[][]} */ (rows)],
      ]),
  )
  return new Map([
    ...words,
    ...tabulateQuantities(),
    ...tabulateOptions(),
    ['Axes', tabulateAxes()],
    ['Features', tabulateFeatures()],
    ['Links', tabulateLinks()],
    [
      'Experiments',
      [['name', 'asks'], ...listExperiments().map(name => [`\`${name}\``, readAnyExperiment(name).question])],
    ],
    ['Planes', tabulatePlanes()],
    ['Results by node', RESULTS],
    ['Where planes fall short', tabulateLacks()],
    ['Exit statuses', [['status', 'means'], ...Object.entries(EXIT_MEANINGS)]],
  ])
}

/** @param {string[][]} table */
function renderTable([header, ...rows]) {
  const line = (/** @type {string[]} */ cells) => `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(header), line(header.map(() => '---')), ...rows.map(line)].join('\n')
}

/** Tabulates quantities by the names that experiments use. Quantities with the same definition share a row. */
function tabulateQuantities() {
  /** @type {Map<string, QuantityRow[]>} */
  const tables = new Map()
  for (const { name, group, family, label, definition } of Object.values(QUANTITIES)) {
    const table = (typeof group === 'string' && QUANTITIES_OF.get(group)) || 'Quantities'
    const rows = tables.get(table) ?? []
    const row = { names: [name], label, definition, ...family }
    const last = rows.at(-1)
    const joined = last && joinAlike(last, row)
    tables.set(table, joined ? [...rows.slice(0, -1), joined] : [...rows, row])
  }
  const header = ['name', 'shown as', 'definition']
  return [...tables].map(([table, rows]) => {
    const cells = rows.map(({ names, label, definition }) => [
      names.map(name => `\`${name}\``).join(', '),
      label,
      definition,
    ])
    return /** @type {[string, string[][]]} */ ([table, [header, ...cells]])
  })
}

/** @typedef {{ names: string[], label: string, definition: string }} QuantityRow */

/**
 * Joins two rows whose labels differ in one word, and whose definitions differ in that word or behind the last colon.
 * @param {QuantityRow} one @param {QuantityRow} other
 * @returns {QuantityRow | null}
 */
function joinAlike(one, other) {
  const label = joinByWord(one.label, other.label)
  const definition = joinByWord(one.definition, other.definition) ?? joinAfterColon(one.definition, other.definition)
  if (label === null || definition === null) return null
  return { names: [...one.names, ...other.names], label, definition }
}

/** @param {string} one @param {string} other */
function joinAfterColon(one, other) {
  const end = other.lastIndexOf(': ') + 2
  return end > 1 && one.startsWith(other.slice(0, end)) ? `${one.slice(0, -1)}; ${other.slice(end)}` : null
}

/** Writes `a/b` for the one word in which two texts differ, each time that it occurs. @param {string} one @param {string} other */
function joinByWord(one, other) {
  const [words, others] = [one.split(' '), other.split(' ')]
  const differing = new Set(
    words.flatMap((word, i) => (word === others[i] ? [] : [`${trim(word)}/${trim(others[i])}`])),
  )
  if (words.length !== others.length || differing.size > 1) return null
  return words.map((word, i) => (word === others[i] ? word : `${trim(word)}/${others[i]}`)).join(' ')
}

/** Without the punctuation behind a word. @param {string} [word] */
function trim(word = '') {
  return word.replace(/[.,:]$/, '')
}
