import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const PAGES = ['README.md', ...readdirSync('docs').map(name => `docs/${name}`)].filter(name => name.endsWith('.md'))
// A list of runs, each with its own arms.
const LISTS = ['docs/results.md']

/** Tables whose head has µs, each with the text between it and the heading before it. @param {string} file */
function readCostTables(file) {
  const lines = readFileSync(file, 'utf8').split('\n')
  return lines.flatMap((line, i) => {
    const isHead = /^\|.*µs/.test(line) && /^\| *:?-/.test(lines[i + 1] ?? '')
    if (!isHead || LISTS.includes(file)) return []
    const heading = lines.findLastIndex((other, at) => at < i && other.startsWith('#'))
    return [{ file, head: line, text: lines.slice(heading, i).join(' ') }]
  })
}

// A request of 14 KiB at 120/s costs 2.2 times one of 1 KiB from 32 users.
it.each(PAGES.flatMap(readCostTables))('$file: the table "$head" names its users and its body size', ({ text }) => {
  expect(text).toMatch(/\b\d+ users\b/)
  expect(text).toMatch(/\b\d+ [KM]iB\b/)
})
