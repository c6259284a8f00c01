import { readdirSync, readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

const page = readFileSync('docs/changing-a-pipeline.md', 'utf8')

it('begins with the shortest sidecar as it is', () => {
  const [, code] = /** @type {RegExpExecArray} */ (/```js\n(.*?)```/s.exec(page))
  expect(code).toBe(readFileSync('bench/pipy-shortest/main.js', 'utf8'))
})

it('names each file of pipy-scripts once', () => {
  const names = [...page.matchAll(/^\| `(.+\.js)` \|/gm)].map(([, name]) => name)
  expect(names.sort()).toEqual(readdirSync('pipy-scripts').sort())
})
