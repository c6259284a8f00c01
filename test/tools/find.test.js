import { createHash } from 'node:crypto'
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import http from 'node:http'
import os from 'node:os'
import path from 'node:path'
import { execa } from 'execa'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { envoy } from '../../src/dataplanes/envoy/index.js'
import { pipyTool } from '../../src/dataplanes/pipy/index.js'
import { k6Tool } from '../../src/loads/k6/tool.js'
import { fetchPipy } from '../../src/tools/fetch.js'
import { findTool } from '../../src/tools/find.js'

const folder = mkdtempSync(path.join(os.tmpdir(), 'tools-test-'))
const cache = process.env.SIDECAR_BENCH_CACHE
beforeAll(() => {
  process.env.SIDECAR_BENCH_CACHE = path.join(folder, 'cache')
})
afterAll(() => {
  if (cache === undefined) delete process.env.SIDECAR_BENCH_CACHE
  else process.env.SIDECAR_BENCH_CACHE = cache
  rmSync(folder, { recursive: true, force: true })
})

/**
 * @param {string} name of a folder
 * @param {string} version that the program says
 */
function install(name, version) {
  const file = path.join(folder, name, 'pipy')
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, `#!/bin/sh\necho 'Version          : ${version}'\n`)
  chmodSync(file, 0o755)
  return file
}

describe('findTool', () => {
  const named = install('named', '1.5.1')
  const onPath = install('path', '2.0.2')
  const PATH = `/nowhere:${path.dirname(onPath)}`

  it('prefers the variable to PATH, and PATH to the cache', async () => {
    install('cache/pipy', '1.5.3')
    expect(await findTool(pipyTool, { environment: { PIPY: named, PATH } })).toMatchObject({
      path: named,
      version: '1.5.1',
      source: `PIPY=${named}`,
    })
    expect(await findTool(pipyTool, { environment: { PATH } })).toMatchObject({
      path: onPath,
      version: '2.0.2',
      source: 'PATH',
    })
    expect(await findTool(pipyTool, { environment: {} })).toMatchObject({ version: '1.5.3', source: 'cache' })
    rmSync(path.join(folder, 'cache'), { recursive: true })
  })

  it('gives the SHA-256 of the program', async () => {
    const sha256 = createHash('sha256').update(readFileSync(named)).digest('hex')
    expect(await findTool(pipyTool, { environment: { PIPY: named } })).toMatchObject({ sha256 })
  })

  it('fetches what is nowhere, and says why when it cannot', async () => {
    const fetched = await findTool(pipyTool, {
      environment: {},
      fetch: async () => void install('cache/pipy', '1.5.18'),
    })
    expect(fetched).toMatchObject({ version: '1.5.18', source: 'fetched' })
    rmSync(path.join(folder, 'cache'), { recursive: true })
    const fetch = () => Promise.reject(new Error('no network'))
    expect(await findTool(pipyTool, { environment: {}, fetch })).toEqual({
      missing: expect.stringMatching(/^no pipy in PIPY, PATH or .*: no network$/),
    })
  })

  it('names path, version found and version wanted of one that is too old', async () => {
    const old = install('old', '0.99.1')
    await expect(findTool(pipyTool, { environment: { PIPY: old } })).rejects.toThrow(
      `${old} (PIPY=${old}) is pipy 0.99.1, wanted 1.5.x or 2.0.x`,
    )
  })

  it('says what one printed that does not run', async () => {
    const broken = path.join(folder, 'broken')
    writeFileSync(broken, '#!/bin/sh\necho "libfoo.so: cannot open" >&2; exit 127\n', { mode: 0o755 })
    await expect(findTool(pipyTool, { environment: { PIPY: broken } })).rejects.toThrow(
      `${broken} (PIPY=${broken}) does not run: libfoo.so: cannot open`,
    )
  })
})

describe('fetchPipy', () => {
  /** @type {http.Server} */
  let server
  let url = ''
  let sha256 = ''

  beforeAll(async () => {
    const source = path.join(folder, 'release')
    mkdirSync(path.join(source, 'usr/local/bin'), { recursive: true })
    writeFileSync(path.join(source, 'usr/local/bin/pipy'), '#!/bin/sh\necho released\n')
    const archive = path.join(folder, 'release.tar.gz')
    await execa('tar', ['-czf', archive, '-C', source, 'usr/local/bin/pipy'])
    sha256 = createHash('sha256').update(readFileSync(archive)).digest('hex')
    server = http.createServer((request, response) => {
      if (request.url === '/silent') return
      response.writeHead(request.url === '/gone' ? 404 : 200)
      response.end(request.url === '/gone' ? '' : readFileSync(archive))
    })
    await new Promise(resolve => server.listen(0, '127.0.0.1', () => resolve(null)))
    url = `http://127.0.0.1:${/** @type {import('node:net').AddressInfo} */ (server.address()).port}`
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })

  const work = () => mkdtempSync(path.join(folder, 'work-'))

  it('takes the program out of the archive and notes its hash', async () => {
    const { program, origin } = await fetchPipy({ work: work(), url: `${url}/pipy.tar.gz`, expected: undefined })
    expect(readFileSync(program, 'utf8')).toContain('released')
    expect(origin).toEqual({ url: `${url}/pipy.tar.gz`, sha256 })
  })

  it('checks the hash against the one expected', async () => {
    await expect(fetchPipy({ work: work(), url: `${url}/p`, expected: sha256.toUpperCase() })).resolves.toBeDefined()
    await expect(fetchPipy({ work: work(), url: `${url}/p`, expected: 'ab' })).rejects.toThrow(
      `has SHA-256 ${sha256}, and PIPY_SHA256 says ab`,
    )
  })

  it('says the status of an archive that is not there', async () => {
    await expect(fetchPipy({ work: work(), url: `${url}/gone` })).rejects.toThrow(`${url}/gone: status 404`)
  })

  it('gives up within five seconds on a server that says nothing', async () => {
    const start = performance.now()
    await expect(fetchPipy({ work: work(), url: `${url}/silent` })).rejects.toThrow('no answer within 5 s')
    expect(performance.now() - start).toBeLessThan(6000)
  })
})

describe('the version of', () => {
  const read = (/** @type {string} */ name) => readFileSync(`test/fixtures/${name}`, 'utf8')
  it.each([
    [pipyTool, 'pipy-1.5.18-version.txt', '1.5.18'],
    [pipyTool, 'pipy-2.0.2-version.txt', '2.0.2'],
    [/** @type {import('../../src/model/types.ts').ToolSpec} */ (envoy.tool), 'envoy-1.40.0-version.txt', '1.40.0'],
    [k6Tool, 'k6-1.1.0-version.txt', '1.1.0'],
  ])('$name is read from what it prints', (spec, fixture, version) => {
    expect(spec.parseVersion(read(fixture))).toBe(version)
    expect(spec.isAccepted(version)).toBe(true)
  })

  it('k6 before 1.0 is not accepted', () => expect(k6Tool.isAccepted('0.57.0')).toBe(false))
})
