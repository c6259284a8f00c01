import { expect, it } from 'vitest'
import { createFlameTree, renderFlameGraph } from '../../src/lab/page.js'

const stack = (/** @type {string[]} */ frames, /** @type {number} */ self) => ({ frames, object: '/bin/pipy', self })
const old = [stack(['pjs::eval', 'pipy::Handle::process', 'main'], 60), stack(['main'], 40)]
const next = [stack(['pjs::eval', 'pipy::Handle::process', 'main'], 90), stack(['main'], 40)]

it('a flame graph stacks functions on the filter that they work for', () => {
  const root = createFlameTree({ old, new: next })
  const filter = root.children.get('handle…')
  expect(root).toMatchObject({ old: 100, new: 130 })
  expect(filter).toMatchObject({ old: 60, new: 90 })
  expect(filter?.children.get('pipy::Handle::process')?.children.get('pjs::eval')).toMatchObject({ old: 60, new: 90 })
  expect([...root.children.keys()]).toEqual(['handle…', 'other'])
})

it('a flame graph is drawn with a box for each function, those that cost more in red', () => {
  const { markup } = renderFlameGraph({ title: 'client', root: createFlameTree({ old, new: next }) })
  for (const name of ['all', 'handle…', 'pipy::Handle::process', 'pjs::eval', 'main']) expect(markup).toContain(name)
  expect(markup.match(/class="costlier"/g)).toHaveLength(4)
})
