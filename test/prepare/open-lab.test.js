import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { expect, it } from 'vitest'
import { readAgain } from '../../src/prepare/open-lab.js'
import { findPipeline } from '../../src/tools/find-pipeline.js'
import { makeFolder } from '../fakes/scratch.js'

it('reads scripts and their pipeline.yaml again after a save', () => {
  const folder = makeFolder('saved')
  const save = (/** @type {string} */ name, /** @type {string} */ text) => writeFileSync(path.join(folder, name), text)
  save('main.js', 'before')
  save('pipeline.yaml', 'listen: { port: 8000 }')
  const pipeline = findPipeline(folder)
  save('main.js', 'after')
  save('pipeline.yaml', 'listen: { port: 8001 }')
  readAgain(pipeline)
  expect(pipeline?.scriptFiles['main.js']).toBe('after')
  expect(pipeline?.document.listen.port).toBe(8001)
  expect(() => readAgain(null)).not.toThrow()
})
