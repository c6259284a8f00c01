import { readFileSync } from 'node:fs'
import path from 'node:path'
import { init, parse } from 'es-module-lexer'
import { describe, expect, it } from 'vitest'

// Of code: lines that are neither empty nor of a comment.
const LINES_MOST = 9400
// An import or re-export of es-module-lexer, which is no `import()`.
const STATIC = -1
// Code that the default run has no use for: it is imported when a part of a run asks for it.
const ELSEWHERE = [
  /^src\/targets\/(kubernetes|load-host)\//,
  /^src\/kinds\/(search|rollout|growth|balance)\/(course|phases|sections|document|records|services|searches)\.js$/,
  /^src\/(lab|live\/serve|report)\//,
]

await init

describe('what the verb bench imports before it runs', () => {
  const files = reach('src/verbs/bench.js')

  it('is read from the syntax of modules, as Node reads it', () => {
    expect(files).toContain('src/prepare/measure.js')
    expect(files.length).toBeGreaterThan(100)
  })

  it.each(ELSEWHERE)('is nothing of %s', pattern => {
    expect(files.filter(file => pattern.test(file))).toEqual([])
  })

  it(`is at most ${LINES_MOST} lines of code`, () => {
    const isCode = (/** @type {string} */ line) => !/^\s*(\/\/|\/\*|\*|$)/.test(line)
    const lines = files.flatMap(file => readFileSync(file, 'utf8').split('\n').filter(isCode))
    expect(lines.length).toBeLessThanOrEqual(LINES_MOST)
  })
})

/** Lists the files that a module imports, directly or through others, without `import()`. @param {string} first */
function reach(first) {
  const reached = new Set([first])
  for (const file of reached) for (const name of listStaticImports(file)) reached.add(name)
  return [...reached]
}

/** @param {string} file */
function listStaticImports(file) {
  const [imports] = parse(readFileSync(file, 'utf8'), file)
  return imports.flatMap(({ n: name, d: dynamic }) =>
    dynamic === STATIC && name?.startsWith('.') ? [path.posix.join(path.posix.dirname(file), name)] : [],
  )
}
