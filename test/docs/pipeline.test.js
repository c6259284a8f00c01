import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const page = readFileSync('docs/changing-a-pipeline.md', 'utf8')

it('links the shortest sidecar, which is there', () => {
  expect(page).toContain('../bench/pipy-shortest/main.js')
  expect(existsSync('bench/pipy-shortest/main.js')).toBe(true)
})

it('names each file of pipy-scripts once', () => {
  const names = [...page.matchAll(/^\| `(.+\.js)` \|/gm)].map(([, name]) => name)
  expect(names.sort()).toEqual(readdirSync('pipy-scripts').sort())
})
