import { QUANTITIES } from '../src/judge/quantities.js'
import { EXIT_MEANINGS } from '../src/lib/exit-status.js'
import { tabulateBalanceWords } from '../src/report/balance-tables.js'
import { tabulateDictionary } from '../src/report/dictionary.js'
import { listExperiments, readAnyExperiment } from '../src/verbs/read-experiment.js'

/**
 * The tables of the documentation that are written from the code.
 */

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
    ['Quantities', [['name', 'shown as', 'definition'], ...tabulateQuantities()]],
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
  /** @type {Map<string, string[]>} */
  const rows = new Map()
  for (const { name, family, label, definition } of Object.values(QUANTITIES)) {
    const shown = family ?? { label, definition }
    // Two quantities may have one label, each with a definition of its own.
    const key = `${shown.label} ${shown.definition}`
    const [names = ''] = rows.get(key) ?? []
    rows.set(key, [[names, `\`${name}\``].filter(Boolean).join(', '), shown.label, shown.definition])
  }
  return [...rows.values()]
}
