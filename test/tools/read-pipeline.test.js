import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { createPipelineDocument } from '../../src/model/pipeline.js'
import { createPipeline } from '../../src/tools/read-pipeline.js'
import { makeFolder } from '../fakes/scratch.js'

const createFrom = (/** @type {string} */ scripts) =>
  createPipeline({ document: createPipelineDocument({ listen: { port: 1 } }), file: 'pipeline.yaml', scripts })

describe('createPipeline', () => {
  it('reads texts as texts, and other files byte by byte', () => {
    const folder = makeFolder('pipeline')
    writeFileSync(path.join(folder, 'main.js'), "'é'")
    writeFileSync(path.join(folder, 'ca.der'), Buffer.from([0x30, 0xff, 0xfe, 0]))
    const { scriptFiles, binaryFiles = {} } = createFrom(folder)
    expect(scriptFiles).toEqual({ 'main.js': "'é'" })
    expect(Buffer.from(binaryFiles['ca.der'], 'latin1')).toEqual(Buffer.from([0x30, 0xff, 0xfe, 0]))
  })

  it('follows links within the folder', () => {
    const folder = makeFolder('pipeline')
    mkdirSync(path.join(folder, 'lib'))
    writeFileSync(path.join(folder, 'lib/a.js'), 'a')
    symlinkSync('lib/a.js', path.join(folder, 'main.js'))
    symlinkSync('lib', path.join(folder, 'modules'))
    expect(createFrom(folder).scriptFiles).toEqual({ 'lib/a.js': 'a', 'main.js': 'a', 'modules/a.js': 'a' })
  })

  it.each([
    ['/etc/hostname', 'main.js is a link to /etc/hostname, outside of the folder'],
    ['missing.js', 'main.js is a link to nothing'],
    ['.', 'main.js is a link to a folder that it lies in'],
  ])('refuses a link to %s', (target, message) => {
    const folder = makeFolder('pipeline')
    symlinkSync(target, path.join(folder, 'main.js'))
    expect(() => createFrom(folder)).toThrow(message)
  })
})
