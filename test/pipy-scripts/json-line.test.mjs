// Run by `node --test`, here and in the copies that `lab new` makes: it needs nothing but Node.
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { mendLine } from '../../pipy-scripts/json-line.js'

/** The value of a line of these bytes, once mended, as a strict reader has it. @param {...(string | number[])} parts */
function read(...parts) {
  const bytes = parts.flatMap(part => [...Buffer.from(part)])
  return JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(mendLine(bytes))))
}

describe('mendLine', () => {
  it('leaves JSON as it is', () => {
    const value = { path: '/a?b="c"\\\n\t\u0001', user_agent: 'é €𝄞 ퟿  ', bytes_sent: 12, none: null }
    assert.deepEqual(read(JSON.stringify(value)), value)
  })

  it('escapes control bytes', () => {
    const controls = Array.from({ length: 32 }, (_, byte) => byte)
    assert.equal(read('"/', controls, '\x7f"'), `/${String.fromCharCode(...controls)}\x7f`)
  })

  it('escapes what Pipy has letters for and JSON has not', () => {
    assert.equal(read('"\\a \\v \\b"'), '\x07 \x0b \b')
    assert.equal(read('"\\\\a \\\\v"'), '\\a \\v')
  })

  /** @type {[string, number[], number][]} */
  const broken = [
    ['a byte of no character', [0xff], 1],
    ['a byte that begins none', [0x80], 1],
    ['half a character', [0xc3], 1],
    ['two thirds of one', [0xe2, 0x82], 2],
    ['a character in more bytes than it needs', [0xc0, 0x80], 2],
    ['another one', [0xe0, 0x80, 0x80], 3],
    ['half a surrogate pair', [0xed, 0xa0, 0x80], 3],
    ['what is beyond Unicode', [0xf4, 0x90, 0x80, 0x80], 4],
  ]
  for (const [what, bytes, replaced] of broken)
    it(`replaces ${what}`, () => assert.equal(read('"a', bytes, 'b"'), `a${'\ufffd'.repeat(replaced)}b`))
})
