import { execFileSync } from 'node:child_process'
import { expect, it } from 'vitest'
import { quoteWord } from '../../src/lib/quote-word.js'

it.each(['./my-scripts', "it's", 'a b', '$HOME', 'a"b', '', '*'])('a shell reads the word %j as it is', word => {
  expect(execFileSync('sh', ['-c', `printf %s ${quoteWord(word)}`], { encoding: 'utf8' })).toBe(word)
})

it('a plain word stays as it is', () => expect(quoteWord('./my-scripts/main.js')).toBe('./my-scripts/main.js'))
