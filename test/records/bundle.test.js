import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { pack } from 'tar-stream'
import { describe, expect, it } from 'vitest'
import { readCarried, unpackBundle, writeBundle } from '../../src/records/bundle.js'
import { createHiding } from '../../src/records/hide-names.js'
import { withRuns } from '../../src/verbs/open-runs.js'
import { verifyFolder } from '../../src/verbs/verify.js'
import { bundleRun } from '../../src/verbs/write-bundle.js'
import { makeFolder, makeOwnFolder } from '../fakes/scratch.js'

const RUNS = 'test/fixtures/runs'
const KINDS = ['load', 'search', 'rollout', 'growth', 'balance']
const folder = makeFolder('bundle-test')
const verify = (/** @type {string} */ file) => withRuns([file], ([run]) => verifyFolder(run))
const listUnpacked = () => readdirSync(os.tmpdir()).filter(name => name.startsWith(`sidecar-bench-bundle-`))

describe('a bundle', () => {
  it.each(KINDS)('of the kind %s is verified like its folder', async kind => {
    const file = path.join(folder, `${kind}.tar.gz`)
    const before = listUnpacked()
    await bundleRun(`${RUNS}/${kind}`, { file })
    const [of, as] = [await verify(file), verifyFolder(`${RUNS}/${kind}`)]
    expect(of).toEqual(as)
    expect(of.agrees).toBe(true)
    expect(listUnpacked()).toEqual(before)

    const again = path.join(folder, `${kind}-again.tar.gz`)
    await bundleRun(`${RUNS}/${kind}`, { file: again })
    expect(readFileSync(again).equals(readFileSync(file))).toBe(true)
  })

  it('does not agree where one number was changed, in a record or in a raw file', async () => {
    const files = readCarried(`${RUNS}/load`)
    const samples = Object.keys(files).find(name => name.endsWith('pipy-0.25/samples.jsonl')) ?? ''
    const changes = [
      ['trials.jsonl', /("verified":)\d+/],
      ['summary.json', /("median": )\d/],
      [samples, /("edge":"end".*?"cpuSeconds":)\d+/],
    ]
    for (const [i, [name, pattern]] of /** @type {[string, RegExp][]} */ (changes).entries()) {
      const file = path.join(folder, `changed-${i}.tar.gz`)
      expect(files[name]).toMatch(pattern)
      await writeBundle(file, { ...files, [name]: files[name].replace(pattern, '$17') })
      expect((await verify(file)).agrees, name).toBe(false)
    }
  })

  it.for(
    /** @type {[string, import('tar-stream').Header, RegExp][]} */ ([
      ['leads out of the folder', { name: '../x.json' }, /"\.\.\/x\.json" in it is none of the files/],
      ['leads out of the folder by the name of a trial', { name: 'raw/../x.json' }, /is none of the files of a run/],
      ['starts at the root', { name: '/etc/x.json' }, /is none of the files of a run/],
      ['is a key', { name: 'raw/r1/key.pem' }, /is none of the files of a run/],
      ['is a link', { name: 'summary.json', type: 'symlink', linkname: '/etc/passwd' }, /is a symlink, and no file/],
      ['is a hard link', { name: 'summary.json', type: 'link', linkname: 'manifest.json' }, /is a link, and no file/],
      ['stands there twice', { name: 'manifest.json' }, /"manifest.json" stands in it twice/],
    ]),
  )('is refused where an entry %s', async ([, header, words]) => {
    const archive = pack()
    archive.entry({ name: 'manifest.json' }, '{}')
    archive.entry(header, header.type ? '' : '{}')
    archive.finalize()
    const file = path.join(folder, 'bad.tar.gz')
    writeFileSync(file, gzipSync(await buffer(archive)))
    const into = path.join(makeOwnFolder('unpacked'), 'run')
    await expect(unpackBundle(file, into)).rejects.toThrow(words)
    await expect(verify(file)).rejects.toThrow(`${file} is no whole bundle of a run`)
    expect(readdirSync(path.dirname(into))).not.toContain('x.json')
  })

  it('is refused where it is cut off, empty or something else', async () => {
    const whole = readFileSync(path.join(folder, 'load.tar.gz'))
    const cut = whole.subarray(0, whole.length / 2)
    const contents = { cut, empty: '', text: 'no archive', gzip: gzipSync('no tar') }
    for (const [name, content] of Object.entries(contents)) {
      const file = path.join(folder, `${name}.tar.gz`)
      writeFileSync(file, content)
      await expect(verify(file), name).rejects.toThrow(`${file} is no whole bundle of a run: `)
    }
  })

  it('is not made of a run that verify does not accept, nor under the name of something else', async () => {
    const damaged = path.join(folder, 'damaged')
    await unpackBundle(path.join(folder, 'load.tar.gz'), damaged)
    const trials = path.join(damaged, 'trials.jsonl')
    writeFileSync(trials, readFileSync(trials, 'utf8').replace(/("verified":)\d+/, '$17'))
    await expect(bundleRun(damaged, { file: path.join(folder, 'd.tar.gz') })).rejects.toThrow(
      'does not accept: differs',
    )
    await expect(bundleRun(damaged, { file: 'README.md' })).rejects.toThrow('ends in .tar.gz')
    await expect(bundleRun(folder, {})).rejects.toThrow('holds no run')
  })
})

describe('names in a bundle', () => {
  const manifest = {
    target: 'kubernetes',
    arms: [{ id: 'link-pipy' }],
    command: 'bench --load-host alice@gen.example.org --context=prod --node edge-7 --namespace pipy'.split(' '),
    machine: { node: 'edge-7', cluster: 'https://10.1.2.3:6443' },
  }
  const { hide, kept } = createHiding(
    { 'manifest.json': JSON.stringify(manifest) },
    { folders: ['/home/alice', '/home/alice/My Runs'], names: ['edge-host', 'alice'] },
  )

  it.each([
    ['/home/alice/My Runs/r1/envoy.json', 'r1/envoy.json'],
    ['--config=/opt/bob/envoy.json', '--config=envoy.json'],
    ['"PIPY=/srv/bob/pipy"', '"PIPY=pipy"'],
    ['"first\\n/srv/bob/pipy: not found"', '"first\\npipy: not found"'],
    ['http://127.0.0.1:8080/a/b/c', 'http://127.0.0.1:8080/a/b/c'],
    ['/sys/fs/cgroup/x', '/sys/fs/cgroup/x'],
    ['alice@gen.example.org', 'hidden'],
    ['gen.example.org closed', 'hidden closed'],
    ['https://10.1.2.3:6443', 'hidden'],
    ['the node edge-7 of prod, edge-70', 'the node hidden of hidden, edge-70'],
    ['edge-host', 'hidden'],
    ['pipy', 'pipy'],
  ])('%s becomes %s', (text, shown) => expect(hide(text)).toBe(shown))

  it('stay where an arm has them, which is said', () => expect(kept).toEqual(['pipy']))
})
