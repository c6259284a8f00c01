import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { parseYaml } from '../../src/lib/yaml.js'

const schema = z.strictObject({ name: z.string(), kind: z.enum(['knee', 'size']).optional() })
const parse = (/** @type {string} */ text) => parseYaml({ text, file: 'x.yaml', schema })

describe('a YAML file', () => {
  it.each([
    ['nested too deep', '['.repeat(10_000), 'it is nested too deep'],
    ['of aliases of aliases', bomb(), 'it cannot be read: Excessive alias count'],
    ['without a name that it needs', 'kind: knee', 'name: it is missing: expected string'],
    ['without anything', '', 'x.yaml: it is empty'],
    ['of comments alone', '# nothing\n', 'x.yaml: it is empty'],
    ['of two documents', 'name: a\n---\nname: b', 'x.yaml:2: it holds several documents, divided by ---: leave one'],
    ['with a word of none', 'name: a\nkind: kne', 'unknown value "kne"; did you mean "knee"?'],
  ])('%s is refused in words', (_, text, words) => expect(() => parse(text)).toThrow(words))

  it('gives every object the members that are written, and none else', () => {
    expect(() => parse('name: a\n__proto__: { polluted: 1 }')).toThrow('unknown name "__proto__"')
    expect(() => parse('name: a\n? - b\n\n  - c: d\n')).toThrow(
      /: \[ b, \{ c: d \} \]: unknown name "\[ b, \{ c: d \} \]"/,
    )
    expect(/** @type {any} */ ({}).polluted).toBeUndefined()
  })
})

/** Nine lists of nine aliases each, one in the other. */
function bomb() {
  const names = [...'abcdefghi']
  return names.map((name, i) => `${name}: &${name} [${i === 0 ? 'x' : Array(9).fill(`*${names[i - 1]}`)}]`).join('\n')
}
