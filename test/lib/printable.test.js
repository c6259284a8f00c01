import { describe, expect, it } from 'vitest'
import { escapeControls } from '../../src/lib/printable.js'

describe('escapeControls', () => {
  it('leaves text, its lines and its tabs', () => {
    const text = 'µs/req ±5 %\tübung\r\nnext\n'
    expect(escapeControls(text)).toBe(text)
  })

  it.each([
    ['an escape', '\x1b[2J', '\\u001b[2J'],
    ['a bell', 'a\x07', 'a\\u0007'],
    ['a return without a line end', 'good\rbad', 'good\\u000dbad'],
    ['an escape of eight bits', '\x9b2J', '\\u009b2J'],
    ['what turns the line round', 'a\u202eb', 'a\\u202eb'],
    ['what ends a line elsewhere', 'a\u2028b', 'a\\u2028b'],
    ['a mark of two code units', '\u{e0041}', '\\udb40\\udc41'],
  ])('shows %s', (_, text, escaped) => expect(escapeControls(text)).toBe(escaped))

  it('keeps JSON the same JSON', () => {
    const value = { name: '\x7f\x9b\u202e"\\' }
    expect(JSON.parse(escapeControls(JSON.stringify(value)))).toEqual(value)
  })
})
