import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'

/** Calls without a timeout, by file, and what ends each instead. */
const ENDED_OTHERWISE = {
  'prepare/site.js': 'the kit itself, in a scope',
  'targets/load-host/connection.js':
    'a connection that does not answer its beat is closed, and its programs end with it',
  'targets/load-host/host.js': 'it ends with the connection that it writes to',
}

describe('every program that the kit asks', () => {
  it('has a deadline', () => {
    const without = readdirSync('src', { recursive: true, encoding: 'utf8' })
      .filter(file => file.endsWith('.js'))
      .flatMap(file => {
        const text = readFileSync(path.join('src', file), 'utf8')
        return listCalls(text).some(call => !/\btimeout\b/.test(call)) ? [file] : []
      })
    expect(without.sort()).toEqual(Object.keys(ENDED_OTHERWISE).sort())
  })
})

/** Lists the calls of `execa` in a source, from the name to the bracket that closes it. @param {string} source */
function listCalls(source) {
  return [...source.matchAll(/\bexeca\(/g)].map(({ index }) => {
    let depth = 0
    for (let at = index; at < source.length; at++) {
      if (source[at] === '(') depth++
      else if (source[at] === ')' && --depth === 0) return source.slice(index, at + 1)
    }
    return source.slice(index)
  })
}
