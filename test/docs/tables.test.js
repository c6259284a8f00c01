import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { fillTables } from '../../docs/tables.js'
import { QUANTITY_NAMES } from '../../src/judge/quantities.js'

const pages = readdirSync('docs', { encoding: 'utf8', recursive: true }).filter(name => name.endsWith('.md'))

describe('the tables of the documentation', () => {
  it.each(pages)('are, in %s, what the code says now (npm run docs writes them)', page => {
    const text = readFileSync(`docs/${page}`, 'utf8')
    expect(fillTables(text)).toBe(text)
  })

  it('have each quantity once', () => {
    const text = ['reading-a-result', 'reference/quantities']
      .map(page => readFileSync(`docs/${page}.md`, 'utf8'))
      .join('\n')
    const names = [...text.matchAll(/^\| `(.+)` \| .+ \| .+ \|$/gm)].flatMap(([, cell]) => cell.split('`, `'))
    expect(names.sort()).toEqual([...QUANTITY_NAMES].sort())
  })

  it('are refused by name if there is no such table', () => {
    expect(() => fillTables('<!-- table: Colours -->\n<!-- end -->')).toThrow('there is no table "Colours"')
  })
})
