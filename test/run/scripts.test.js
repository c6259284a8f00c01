import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { hashFolder } from '../../src/lib/hash.js'
import { hashScripts } from '../../src/run/scripts.js'
import { fakeTool } from '../fakes/fake-bench.js'
import { makeFolder } from '../fakes/scratch.js'

let root = ''
beforeEach(() => {
  root = makeFolder('scripts-test')
  for (const name of ['pipy', 'echo', 'k6', 'variant', 'fsm']) write(`${name}/main.js`, name)
})

/** @param {string} file @param {string | Buffer} content */
function write(file, content) {
  mkdirSync(path.dirname(path.join(root, file)), { recursive: true })
  writeFileSync(path.join(root, file), content)
}

describe('hashFolder', () => {
  const hash = () => hashFolder(path.join(root, 'variant'))

  it('is of what is in the files, and of their names, wherever the folder is', () => {
    const first = hash()
    expect(first).toMatch(/^[0-9a-f]{64}$/)
    write('copy/main.js', 'variant')
    expect(hashFolder(path.join(root, 'copy'))).toBe(first)
    renameSync(path.join(root, 'copy/main.js'), path.join(root, 'copy/other.js'))
    expect(hashFolder(path.join(root, 'copy'))).not.toBe(first)
  })

  it('changes with a file of a folder below, with bytes that are no text, and with what a link leads to', () => {
    const hashes = [hash()]
    write('variant/lib/a.js', 'a')
    hashes.push(hash())
    write('variant/lib/a.js', Buffer.from([0xff]))
    hashes.push(hash())
    write('variant/lib/a.js', Buffer.from([0xfe]))
    hashes.push(hash())
    symlinkSync(path.join(root, 'echo'), path.join(root, 'variant/linked'))
    hashes.push(hash())
    write('echo/main.js', 'edited')
    hashes.push(hash())
    expect(new Set(hashes).size).toBe(6)
  })
})

describe('hashScripts', () => {
  it('lists the load, the applications, and each plane, profile or variant that runs scripts once', () => {
    const variant = path.join(root, 'variant')
    const arms = [
      ...[
        { plane: 'none', variant: null, profile: null },
        { plane: 'envoy', variant: null, profile: 'osm-1.1' },
        { plane: 'pipy', variant: null, profile: null },
        { plane: 'pipy', variant: null, profile: 'fsm' },
      ],
      ...[
        { plane: 'pipy', variant, profile: null },
        { plane: 'pipy', variant, profile: null },
        { plane: 'pipy', variant: '/other/pipy', profile: null },
      ],
    ]
    const planes = {
      none: { hasVariants: false, tool: null },
      envoy: { hasVariants: false, tool: { name: 'envoy' } },
      pipy: { hasVariants: true, tool: { name: 'pipy' } },
    }
    const at = (/** @type {string} */ name) => path.join(root, name)
    const folders = { pipyScripts: at('pipy'), echo: at('echo'), load: at('k6') }
    const programs = { planes, tools: { 'pipy=/other/pipy': fakeTool }, scripts: { 'pipy:fsm': at('fsm') } }
    expect(hashScripts({ arms, programs, folders })).toEqual([
      { role: 'generator', plane: null, variant: null, sha256: hashFolder(at('k6')) },
      { role: 'application', plane: null, variant: null, sha256: hashFolder(at('echo')) },
      { role: 'sidecar', plane: 'pipy', variant: null, sha256: hashFolder(at('pipy')) },
      { role: 'sidecar', plane: 'pipy', variant: null, profile: 'fsm', sha256: hashFolder(at('fsm')) },
      { role: 'sidecar', plane: 'pipy', variant, sha256: hashFolder(variant) },
      // A program of its own runs the kit's scripts.
      { role: 'sidecar', plane: 'pipy', variant: '/other/pipy', sha256: hashFolder(at('pipy')) },
    ])
  })
})
