import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { createSideSay, rereadPipeline } from '../../src/prepare/lab-steps.js'
import { readPipeline } from '../../src/tools/read-pipeline.js'
import { makeFolder } from '../fakes/scratch.js'

it('reads scripts and their pipeline.yaml again after a save', () => {
  const folder = makeFolder('saved')
  const save = (/** @type {string} */ name, /** @type {string} */ text) => writeFileSync(path.join(folder, name), text)
  save('main.js', 'before')
  save('pipeline.yaml', 'listen: { port: 8000 }')
  const pipeline = readPipeline(folder)
  save('main.js', 'after')
  save('pipeline.yaml', 'listen: { port: 8001 }')
  rereadPipeline(pipeline)
  expect(pipeline?.scriptFiles['main.js']).toBe('after')
  expect(pipeline?.document.listen.port).toBe(8001)
  expect(() => rereadPipeline(null)).not.toThrow()
})

it('names the side of a line if two are counted', () => {
  const lines = /** @type {string[]} */ ([])
  const say = (/** @type {string} */ line) => void lines.push(line)
  createSideSay({ name: 'new', isAlone: false, say })('it grew')
  createSideSay({ name: 'new', isAlone: true, say })('it grew')
  expect(lines).toEqual(['new: it grew', 'it grew'])
})
