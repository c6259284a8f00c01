import { readFileSync } from 'node:fs'
import path from 'node:path'
import ts from 'typescript'
import { describe, expect, it } from 'vitest'

const LINES_MOST = 14_000
// Code that the default run has no use for: it is imported when a part of a run asks for it.
const ELSEWHERE = [
  /^src\/targets\/(kubernetes|load-host)\//,
  /^src\/kinds\/(search|rollout|growth|balance)\/(course|phases|sections|document|records|services|searches)\.js$/,
  /^src\/(lab|live\/serve|report)\//,
]

describe('what the verb bench imports before it runs', () => {
  const files = reach('src/verbs/bench.js')

  it('is read from the syntax of modules, as Node reads it', () => {
    expect(files).toContain('src/prepare/measure.js')
    expect(files.length).toBeGreaterThan(100)
  })

  it.each(ELSEWHERE)('is nothing of %s', pattern => {
    expect(files.filter(file => pattern.test(file))).toEqual([])
  })

  it(`is at most ${LINES_MOST} lines`, () => {
    const lines = files.map(file => readFileSync(file, 'utf8').split('\n').length - 1)
    expect(lines.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(LINES_MOST)
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
  const { statements } = ts.createSourceFile(file, readFileSync(file, 'utf8'), ts.ScriptTarget.ESNext)
  return statements.flatMap(statement => {
    if (!ts.isImportDeclaration(statement) && !ts.isExportDeclaration(statement)) return []
    const { moduleSpecifier } = statement
    if (!moduleSpecifier || !ts.isStringLiteral(moduleSpecifier) || !moduleSpecifier.text.startsWith('.')) return []
    return [path.posix.join(path.posix.dirname(file), moduleSpecifier.text)]
  })
}
