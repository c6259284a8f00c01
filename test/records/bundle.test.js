import fs, { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { pack } from 'tar-stream'
import { describe, expect, it, vi } from 'vitest'
import { makeOwnedFolder, removeStaleFolders } from '../../src/lib/temporary-folder.js'
import { readFilesToBundle, unpackBundle, writeBundle } from '../../src/records/bundle.js'
import { createNameHider } from '../../src/records/hide-names.js'
import { withRuns } from '../../src/verbs/open-runs.js'
import { verifyRunFolder } from '../../src/verbs/verify.js'
import { bundleRun } from '../../src/verbs/write-bundle.js'
import { makeFolder } from '../fakes/scratch.js'

const RUNS = 'test/fixtures/runs'
const KINDS = ['load', 'search', 'rollout', 'growth', 'balance']
const folder = makeFolder('bundle-test')
const verify = (/** @type {string} */ file) => withRuns([file], ([run]) => verifyRunFolder(run))
const listUnpacked = () =>
  readdirSync(os.tmpdir()).filter(name => name.startsWith(`sidecar-bench-bundle-${process.pid}-`))

describe('a bundle', () => {
  it.each(KINDS)('of the kind %s is verified like its folder', async kind => {
    const file = path.join(folder, `${kind}.tar.gz`)
    const before = listUnpacked()
    await bundleRun(`${RUNS}/${kind}`, { file })
    const [of, as] = [await verify(file), await verifyRunFolder(`${RUNS}/${kind}`)]
    expect(of).toEqual(as)
    expect(of.agrees).toBe(true)
    expect(listUnpacked()).toEqual(before)

    const again = path.join(folder, `${kind}-again.tar.gz`)
    await bundleRun(`${RUNS}/${kind}`, { file: again })
    expect(readFileSync(again).equals(readFileSync(file))).toBe(true)
  })

  it('does not agree if one number was changed, in a record or in a raw file', async () => {
    const files = readFilesToBundle(`${RUNS}/load`)
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
      ['is a link', { name: 'summary.json', type: 'symlink', linkname: '/etc/passwd' }, /is a symlink, and not a file/],
      [
        'is a hard link',
        { name: 'summary.json', type: 'link', linkname: 'manifest.json' },
        /is a link, and not a file/,
      ],
      ['stands there twice', { name: 'manifest.json' }, /"manifest.json" is in it twice/],
    ]),
  )('is refused if an entry %s', async ([, header, words]) => {
    const archive = pack()
    archive.entry({ name: 'manifest.json' }, '{}')
    archive.entry(header, header.type ? '' : '{}')
    archive.finalize()
    const file = path.join(folder, 'bad.tar.gz')
    writeFileSync(file, gzipSync(await buffer(archive)))
    const into = path.join(makeFolder('unpacked'), 'run')
    await expect(unpackBundle(file, into)).rejects.toThrow(words)
    await expect(verify(file)).rejects.toThrow(`${file} is not a complete bundle of a run`)
    expect(readdirSync(path.dirname(into))).not.toContain('x.json')
  })

  it('is refused if it is cut off, empty or something else', async () => {
    const whole = readFileSync(path.join(folder, 'load.tar.gz'))
    const cut = whole.subarray(0, whole.length / 2)
    const contents = { cut, empty: '', text: 'no archive', gzip: gzipSync('no tar') }
    for (const [name, content] of Object.entries(contents)) {
      const file = path.join(folder, `${name}.tar.gz`)
      writeFileSync(file, content)
      await expect(verify(file), name).rejects.toThrow(`${file} is not a complete bundle of a run: `)
    }
  })

  it.each([
    ['lines', (/** @type {Buffer} */ block) => block.fill('\n'), /trials\.jsonl has more than 200000 lines/],
    ['one line', (/** @type {Buffer} */ block) => block.fill('['), /trials\.jsonl:1 is longer than 16\.0 MiB/],
  ])('is refused if a small file unpacks to nothing but %s, and leaves nothing', async (name, fill, words) => {
    const before = listUnpacked()
    const files = readFilesToBundle(`${RUNS}/load`)
    const file = path.join(folder, `bomb-${name}.tar.gz`)
    await writeBundle(file, { ...files, 'trials.jsonl': fill(Buffer.alloc(64 * 2 ** 20)).toString() })
    expect(statSync(file).size).toBeLessThan(200_000)
    await expect(verify(file)).rejects.toThrow(words)
    expect(listUnpacked()).toEqual(before)
  })

  it('has written all that it writes when it is refused, though a file was slow to open', async () => {
    const archive = pack()
    archive.entry({ name: 'raw/r1/x.json' }, 'x'.repeat(2000))
    archive.finalize()
    const bytes = await buffer(archive)
    const [file, unpacked] = [path.join(folder, 'cut-in-entry.tar.gz'), path.join(folder, 'cut-in-entry')]
    writeFileSync(file, gzipSync(bytes.subarray(0, 1000)))
    mkdirSync(unpacked)
    const open = fs.open
    const slow = vi.spyOn(fs, 'open').mockImplementation((...options) => {
      if (options.includes(/** @type {any} */ ('wx'))) setTimeout(() => open(...options), 50)
      else open(...options)
    })
    await expect(unpackBundle(file, unpacked)).rejects.toThrow(/is not a complete bundle of a run/)
    slow.mockRestore()
    expect(readdirSync(unpacked, { recursive: true })).toContain('raw/r1/x.json')
  })

  it('is refused if it unpacks to more than a run holds, or names are long or hide a size', async () => {
    const refuses = async (
      /** @type {(archive: import('tar-stream').Pack) => void} */ fill,
      /** @type {RegExp} */ words,
    ) => {
      const archive = pack()
      archive.entry({ name: 'manifest.json' }, '{}')
      fill(archive)
      archive.finalize()
      const file = path.join(folder, 'large.tar.gz')
      writeFileSync(file, gzipSync(await buffer(archive), { level: 1 }))
      await expect(verify(file)).rejects.toThrow(words)
    }
    const zeros = Buffer.alloc(260 * 2 ** 20)
    await refuses(archive => {
      archive.entry({ name: 'trials.jsonl' }, zeros)
      archive.entry({ name: 'summary.json' }, zeros)
    }, /unpacked it has more than 500\.0 MiB/)
    await refuses(
      archive => archive.entry({ name: `raw/${'x'.repeat(100_000)}/a.json` }, '{}'),
      /a name in it has 1\d{5} bytes/,
    )
    await refuses(
      archive => archive.entry({ name: 'summary.json', pax: { size: '10' } }, '{}        '),
      /a file in it has two sizes/,
    )
  })

  it('that a killed process had unpacked is removed by cleanup, and that of a living process stays', () => {
    const parent = makeFolder('temporary')
    const living = makeOwnedFolder(parent, 'sidecar-bench-bundle')
    const killed = living.replace(/bundle-\d+/, `bundle-${2 ** 22 + 1}`)
    mkdirSync(killed)
    mkdirSync(path.join(parent, 'sidecar-bench-bundle-abcdef'))
    expect(removeStaleFolders(parent)).toEqual([`temporary folder ${killed}`])
    expect(readdirSync(parent).sort()).toEqual([path.basename(living), 'sidecar-bench-bundle-abcdef'].sort())
    expect(removeStaleFolders(path.join(parent, 'nowhere'))).toEqual([])
  })

  it('is not unpacked if no temporary folder can be made, which names the variable that moves it', async () => {
    vi.stubEnv('TMPDIR', path.join(folder, 'nowhere'))
    await expect(verify(path.join(folder, 'load.tar.gz'))).rejects.toThrow(
      /^cannot make a temporary folder in .*nowhere: ENOENT.*; set TMPDIR to a folder that can be written$/,
    )
    vi.unstubAllEnvs()
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
  const { hide, keptNames } = createNameHider(
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
  ])('%s becomes %s', (text, expected) => expect(hide(text)).toBe(expected))

  it('are hidden in fields, and never in numbers: a host may be named 42', () => {
    const files = {
      'manifest.json': JSON.stringify({ ...manifest, command: ['bench', '--load-host=42', '--node', '7'] }),
    }
    const { hideInFile } = createNameHider(files, { folders: [], names: ['2024.5'] })
    const record =
      '{"command":["--load-host=42","7"],"at":42,"grid":[[0.42,7]],"p(42)":7,"node":"7","pid":"7 since 42"}'
    expect(hideInFile('trials.jsonl', record)).toBe(
      '{"command":["--load-host=hidden","hidden"],"at":42,"grid":[[0.42,7]],"p(42)":7,"node":"hidden","pid":"7 since 42"}',
    )
    const log = 'msg="window 42 7"\n{"metrics":{"p(42)":42}}\n'
    expect(hideInFile('raw/r1/k6-generator.log', log)).toBe(log)
  })

  it('stay if an arm has them, and are reported', () => expect(keptNames).toEqual(['pipy']))

  it('are hidden if an arm has them only as a part of a word, but for keys of a document', () => {
    const text = JSON.stringify({ ...manifest, arms: [{ id: 'link-envoy' }], settings: { app: 'x' } })
    const hider = createNameHider({ 'manifest.json': text }, { folders: [], names: ['env', 'envoy', 'app'] })
    expect(hider.hide('the host env runs envoy')).toBe('the host hidden runs envoy')
    expect(hider.keptNames).toEqual(['envoy', 'app'])
  })
})
