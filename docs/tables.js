import { QUANTITIES } from '../src/judge/quantities.js'
import { EXIT_MEANINGS } from '../src/lib/exit-status.js'
import { listExperiments, readAnyExperiment } from '../src/prepare/read-experiment.js'
import { tabulateBalanceWords } from '../src/report/balance-tables.js'
import { tabulateDictionary } from '../src/report/dictionary.js'

/**
 * The tables of the documentation that are written from the code.
 */

/** The groups of quantities that one kind of experiment has, each with a table of its own; all others are in "Quantities". */
const QUANTITIES_OF = new Map([
  ['changes', 'Quantities of changes under load'],
  ['rollout', 'Quantities of rollouts'],
  ['growth', 'Quantities of growth'],
])
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
  const words = [...tabulateDictionary(), ...tabulateBalanceWords()].map(
    ({ caption, columns, rows }) =>
      /** @type {[string, string[][]]} */ ([
        caption.split(':')[0],
        [columns.map(([label]) => label), .../** @type {string[][]} */ (rows)],
      ]),
  )
  return new Map([
    ...words,
    ...tabulateQuantities(),
    [
      'Experiments',
      [['name', 'asks'], ...listExperiments().map(name => [`\`${name}\``, readAnyExperiment(name).question])],
    ],
    ['Exit statuses', [['status', 'means'], ...Object.entries(EXIT_MEANINGS)]],
  ])
}

/** @param {string[][]} table */
function renderTable([header, ...rows]) {
  const line = (/** @type {string[]} */ cells) => `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`
  return [line(header), line(header.map(() => '---')), ...rows.map(line)].join('\n')
}

/** Quantities by the names that experiments use; those of a family together. */
function tabulateQuantities() {
  /** @type {Map<string, Map<string, string[]>>} the rows of each table */
  const tables = new Map()
  for (const { name, group, family, label, definition } of Object.values(QUANTITIES)) {
    const table = (typeof group === 'string' && QUANTITIES_OF.get(group)) || 'Quantities'
    const rows = tables.get(table) ?? new Map()
    const shown = family ?? { label, definition }
    const [names = ''] = rows.get(shown.label) ?? []
    rows.set(shown.label, [[names, `\`${name}\``].filter(Boolean).join(', '), shown.label, shown.definition])
    tables.set(table, rows)
  }
  const header = ['name', 'shown as', 'definition']
  return [...tables].map(([table, rows]) => /** @type {[string, string[][]]} */ ([table, [header, ...rows.values()]]))
}
