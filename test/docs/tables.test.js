import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { fillTables } from '../../docs/tables.js'

const pages = readdirSync('docs').filter(name => name.endsWith('.md'))

describe('the tables of the documentation', () => {
  it.each(pages)('are, in %s, what the code says now (npm run docs writes them)', page => {
    const text = readFileSync(`docs/${page}`, 'utf8')
    expect(fillTables(text)).toBe(text)
  })

  it('are refused by name where there is none', () => {
    expect(() => fillTables('<!-- table: Colours -->\n<!-- end -->')).toThrow('there is no table "Colours"')
  })
})
