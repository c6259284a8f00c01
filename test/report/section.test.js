import { describe, expect, it } from 'vitest'
import { listCharts, selectSections } from '../../src/report/section.js'
import { renderSectionsText } from '../../src/report/section-text.js'

/** @import { Block, Section } from '../../src/report/section.js' */

/** @param {Block[]} blocks @param {Partial<Section>} [section] @returns {Section[]} */
const sectionOf = (blocks, section = {}) => [{ id: 'results', name: 'Cost', blocks, ...section }]
/** @param {string} caption @param {Partial<Extract<Block, { type: 'table' }>>} [block] @returns {Block} */
const table = (caption, block = {}) => ({
  ...{ type: /** @type {const} */ ('table'), table: { caption, columns: [['plane', 'left']], rows: [['pipy']] } },
  ...block,
})
/** @type {Block} */
const sentences = { type: 'sentences', lines: ['pipy uses less CPU'] }
/** @type {Block} */
const list = { type: 'list', lines: ['one', 'two'] }

describe('selectSections', () => {
  const ids = (/** @type {Parameters<typeof selectSections>[1]} */ format) =>
    selectSections(
      [
        ...sectionOf([sentences], { id: 'everywhere' }),
        ...sectionOf([{ ...sentences, on: 'documents' }], { id: 'documents' }),
        ...sectionOf([{ ...sentences, on: 'page' }], { id: 'page' }),
        ...sectionOf(
          [
            { type: 'list', lines: [] },
            { type: 'charts', charts: [] },
          ],
          { id: 'empty' },
        ),
      ],
      format,
    ).map(({ id }) => id)

  it('gives each format its sections, in one order, and none that is empty', () => {
    expect(ids('text')).toEqual(['everywhere'])
    expect(ids('markdown')).toEqual(['everywhere', 'documents'])
    expect(ids('page')).toEqual(['everywhere', 'documents', 'page'])
  })
})

describe('renderSectionsText', () => {
  it('lets sentences and lists follow one another, and tables stand apart', () => {
    expect(renderSectionsText(sectionOf([sentences, list, table('Planes'), sentences]))).toEqual([
      ['pipy uses less CPU', 'one', 'two'],
      ['Planes:', 'plane', 'pipy'],
      ['pipy uses less CPU'],
    ])
  })

  it('prints the name of a section that is read by it, in place of the caption of its only table', () => {
    expect(renderSectionsText(sectionOf([table('Planes')], { isNamed: true }))).toEqual([['Cost:', 'plane', 'pipy']])
    expect(renderSectionsText(sectionOf([list], { isNamed: true }))).toEqual([['Cost:', '  one', '  two']])
    const both = renderSectionsText(sectionOf([table('Planes'), table('Others')], { isNamed: true }))
    expect(both.map(([first]) => first)).toEqual(['Cost:', 'Others:'])
    expect(both[0]).toContain('Planes:')
  })

  it('prints what is brief in place of a table, and leaves wide columns out', () => {
    expect(renderSectionsText(sectionOf([table('Planes', { brief: ['all passed'] })]))).toEqual([['all passed']])
    /** @type {[string, 'left'][]} */
    const columns = [
      ['plane', 'left'],
      ['p90', 'left'],
    ]
    const wide = table('Planes', { table: { caption: '', columns, rows: [['pipy', '3']] }, wideColumns: ['p90'] })
    expect(renderSectionsText(sectionOf([wide]))).toEqual([['plane', 'pipy']])
  })

  it('wraps the rows of prose', () => {
    const rows = [['check', 'word '.repeat(30).trim()]]
    /** @type {[string, 'left'][]} */
    const columns = [
      ['', 'left'],
      ['', 'left'],
    ]
    const [lines] = renderSectionsText(
      sectionOf([table('', { form: 'prose', table: { caption: 'Why', columns, rows } })]),
    )
    expect(lines.map(line => line.slice(0, 12))).toEqual(['Why:', '  check word', '    word wor'])
  })
})

describe('listCharts', () => {
  it('lists the charts of all sections in their order', () => {
    const chart = (/** @type {string} */ id) => /** @type {any} */ ({ id })
    const sections = [
      ...sectionOf([sentences, { type: 'charts', charts: [chart('a'), chart('b')] }]),
      ...sectionOf([{ type: 'charts', on: 'page', charts: [chart('c')] }]),
    ]
    expect(listCharts(sections).map(({ id }) => id)).toEqual(['a', 'b', 'c'])
  })
})
