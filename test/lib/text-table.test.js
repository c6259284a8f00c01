import { expect, it } from 'vitest'
import { wrapText } from '../../src/lib/text-table.js'

it('a text is wrapped neither before a percent sign nor within a command that has one argument', () => {
  const words = 'x'.repeat(85)
  for (const [whole, rest] of [
    ['npm run bench -- conditions.', ' Then 12 repeats.'],
    ['(npm run bench -- conditions)', ''],
    ['npx sidecar-bench bench conditions', ''],
    ['12345678901234 %', ''],
  ])
    expect(wrapText(`${words} ${whole}${rest}`, '  ')).toEqual([`  ${words}`, `  ${whole}${rest}`])
  expect(wrapText('')).toEqual([''])
  expect(wrapText('a  b\nc', '- ', '  ')).toEqual(['- a b c'])
})
