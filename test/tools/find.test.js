import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import http from 'node:http'
import path from 'node:path'
import { execa } from 'execa'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { envoy } from '../../src/dataplanes/envoy/index.js'
import { pipyTool } from '../../src/dataplanes/pipy/index.js'
import { readProcessStartTicks } from '../../src/lib/process-start.js'
import { waitForCondition } from '../../src/lib/wait.js'
import { k6Tool } from '../../src/loads/k6/index.js'
import { wrkTool } from '../../src/loads/wrk/index.js'
import { hasEnded } from '../../src/node/kernel/proc-files.js'
import { removeStaleDownloads } from '../../src/tools/downloads.js'
import { fetchPipy, fetchTool } from '../../src/tools/fetch.js'
import { findTool } from '../../src/tools/find.js'
import { runForVersion } from '../../src/tools/version.js'
import { listen } from '../fakes/listen.js'
import { makeFolder } from '../fakes/scratch.js'

const folder = makeFolder('tools-test')
const cache = process.env.SIDECAR_BENCH_CACHE
beforeAll(() => {
  process.env.SIDECAR_BENCH_CACHE = path.join(folder, 'cache')
})
afterAll(() => {
  if (cache === undefined) delete process.env.SIDECAR_BENCH_CACHE
  else process.env.SIDECAR_BENCH_CACHE = cache
})

/** @param {string} name of a folder @param {string} version that the program says */
function install(name, version) {
  const file = path.join(folder, name, 'pipy')
  mkdirSync(path.dirname(file), { recursive: true })
  writeFileSync(file, `#!/bin/sh\necho 'Version          : ${version}'\n`)
  chmodSync(file, 0o755)
  return file
}

/** A program in the cache, with the hash of what was fetched. @param {string} version */
function cacheIt(version) {
  const file = install('cache/pipy', version)
  writeFileSync(path.join(path.dirname(file), 'origin.json'), JSON.stringify({ programSha256: hashOf(file) }))
  return file
}

/** @param {string} content @param {number} mode */
function writeProgram(content, mode) {
  const file = path.join(mkdtempSync(path.join(folder, 'program-')), 'pipy')
  writeFileSync(file, content, { mode })
  return file
}

const installScript = (/** @type {string} */ script) => writeProgram(`#!/bin/sh\n${script}\n`, 0o755)
const hashOf = (/** @type {string} */ file) => createHash('sha256').update(readFileSync(file)).digest('hex')
const findIn = (/** @type {NodeJS.ProcessEnv} */ environment) => findTool(pipyTool, { environment })
const refuse = () => Promise.reject(new Error('no network'))

describe('findTool', () => {
  const named = install('named', '1.5.1')
  const onPath = install('path', '2.0.2')
  const PATH = `/nowhere:${path.dirname(onPath)}`

  it('prefers the variable to PATH, and PATH to the cache', async () => {
    cacheIt('1.5.3')
    const ofVariable = { path: named, version: '1.5.1', source: `PIPY=${named}` }
    expect(await findIn({ PIPY: named, PATH })).toMatchObject(ofVariable)
    expect(await findIn({ PATH })).toMatchObject({ path: onPath, version: '2.0.2', source: 'PATH' })
    expect(await findIn({})).toMatchObject({ version: '1.5.3', source: 'cache' })
    rmSync(path.join(folder, 'cache'), { recursive: true })
  })

  it('takes a program that was named for one arm, and no other instead of it', async () => {
    const environment = { PIPY: named, PATH }
    expect(await findTool({ ...pipyTool, path: onPath }, { environment })).toMatchObject({ path: onPath })
    const another = { ...pipyTool, path: process.execPath }
    await expect(findTool(another, { environment })).rejects.toThrow('(--planes) tells no version: v')
  })

  it('gives the SHA-256 of the program', async () => {
    expect(await findIn({ PIPY: named })).toMatchObject({ sha256: hashOf(named) })
  })

  it('fetches what is nowhere, and says why when it cannot', async () => {
    const fetch = async () => void install('cache/pipy', '1.5.18')
    expect(await findTool(pipyTool, { environment: {}, fetch })).toMatchObject({ version: '1.5.18', source: 'fetched' })
    rmSync(path.join(folder, 'cache'), { recursive: true })
    expect(await findTool(pipyTool, { environment: {}, fetch: refuse })).toEqual({
      missing: expect.stringMatching(/^no pipy in PIPY, PATH or .*: no network$/),
    })
  })

  it('names the package of a tool that the kit does not fetch', async () => {
    expect(await findTool(wrkTool, { environment: {}, fetch: refuse })).toEqual({
      missing: 'no wrk in WRK or PATH: apt install wrk, or set WRK to its path',
    })
  })

  it('names path, version found and version wanted of one that is too old', async () => {
    const old = install('old', '0.99.1')
    await expect(findIn({ PIPY: old })).rejects.toThrow(`PIPY=${old} is pipy 0.99.1, wanted 1.5.x or 2.0.x`)
  })

  it.for([
    ['a folder', () => folder, 'it is a folder, and no program'],
    [
      'a script without its interpreter',
      () => writeProgram('#!/no/such/interpreter\n', 0o755),
      'it names an interpreter or loader that is not here',
    ],
    ['a file that may not be executed', () => writeProgram('x', 0o644), 'it may not be executed'],
    ['nothing', () => '/nonexistent', 'there is no such file'],
  ])('says why %s does not run', async ([, make, words]) => {
    const program = /** @type {() => string} */ (make)()
    await expect(findIn({ PIPY: program })).rejects.toThrow(`PIPY=${program} does not run: ${words}`)
  })

  it('takes a k6 whose file has another name', async () => {
    const said = 'k6-1.1.0 v1.1.0 (commit/0e3fb953be, go1.24.4, linux/amd64)'
    expect(k6Tool.parseVersion(said)).toBe('1.1.0')
    expect(k6Tool.parseVersion(said.replace('k6-1.1.0', 'loader'))).toBe('1.1.0')
    expect(k6Tool.parseVersion('iptables v1.8.9 (nf_tables)')).toBeNull()
  })

  it('says what one printed that does not run', async () => {
    const broken = installScript('echo "libfoo.so: cannot open" >&2; exit 127')
    await expect(findIn({ PIPY: broken })).rejects.toThrow(`PIPY=${broken} does not run: libfoo.so: cannot open`)
  })
})

describe('a program in the cache', () => {
  afterEach(() => rmSync(path.join(folder, 'cache'), { recursive: true, force: true }))

  it('that is not what was fetched is not run, and the error says what to remove', async () => {
    const file = cacheIt('1.5.3')
    const ran = path.join(folder, 'ran')
    writeFileSync(file, `#!/bin/sh\ntouch ${ran}\necho 'Version          : 1.5.3'\n`)
    const error = await findTool(pipyTool, { environment: {}, fetch: refuse }).catch(error => error)
    expect(error.message).toContain(`${file} is not what was fetched`)
    expect(error.message).toContain(`remove the folder ${path.dirname(file)} to have it fetched again`)
    expect(existsSync(ran)).toBe(false)
  })

  it('whose hash was never kept is fetched again', async () => {
    install('cache/pipy', '1.5.3')
    const fetch = async () => void cacheIt('1.5.18')
    expect(await findTool(pipyTool, { environment: {}, fetch })).toMatchObject({ version: '1.5.18', source: 'fetched' })
  })

  it('whose hash was never kept is used if it cannot be fetched again, with a warning', async () => {
    const file = install('cache/pipy', '1.5.3')
    /** @type {string[]} */
    const said = []
    const tool = await findTool(pipyTool, { environment: {}, fetch: refuse, say: line => void said.push(line) })
    expect(tool).toMatchObject({ version: '1.5.3', source: 'cache' })
    expect(said).toEqual([expect.stringMatching(`^${file} is used unchecked: .*cannot be fetched: no network$`)])
  })
})

describe('a program that does not end', () => {
  const pids = path.join(folder, 'pids')
  // Neither listens to SIGTERM; the child holds the pipe open.
  const stubborn = (says = '') =>
    `trap '' TERM; (trap '' TERM; while :; do sleep 1; done) & echo $! > ${pids}; echo '${says}'; wait`
  const hasChildEnded = () => {
    const pid = Number(readFileSync(pids, 'utf8'))
    return pid > 0 && hasEnded(pid)
  }

  it('is ended with what it started, and the error says for how long it was waited', async () => {
    const spec = { ...pipyTool, versionArgv: [] }
    const { version, output } = await runForVersion(spec, installScript(stubborn()), { deadlineSeconds: 0.5 })
    expect(version).toBeNull()
    expect(output).toBe('it printed nothing, and did not end within 0.5 s')
    await waitForCondition(hasChildEnded, { what: 'the child to end', deadlineSeconds: 2 })
  })

  it('is ended when it has printed its library, too, if that counts', async () => {
    const parseLibrary = (/** @type {string} */ text) => /^Running on (.+)\n/m.exec(text)?.[1] ?? null
    const script = `echo 'Version : 1.5.18'; sleep 0.2; echo 'Running on OpenSSL 3.5.4'; ${stubborn()}`
    const environment = { PIPY: installScript(script) }
    expect(await findTool({ ...pipyTool, parseLibrary }, { environment })).toMatchObject({
      version: '1.5.18',
      library: 'OpenSSL 3.5.4',
    })
    expect(await findTool(pipyTool, { environment })).not.toHaveProperty('library')
  })

  it('is ended when the run is stopped', async () => {
    const stopping = new AbortController()
    const finding = findTool(pipyTool, { environment: { PIPY: installScript(stubborn()) }, signal: stopping.signal })
    setTimeout(() => stopping.abort(new Error('interrupted')), 200)
    await expect(finding).rejects.toThrow('interrupted')
    await waitForCondition(hasChildEnded, { what: 'the child to end', deadlineSeconds: 2 })
  })

  it('is ended with what it started when its version is known', async () => {
    const program = installScript(stubborn('Version : 1.5.1'))
    expect(await findIn({ PIPY: program })).toMatchObject({ version: '1.5.1' })
    await waitForCondition(hasChildEnded, { what: 'the child to end', deadlineSeconds: 2 })
  })

  it('does not delay the caller if it started a process in another group', async () => {
    const program = installScript('setsid sleep 20 & exit 3')
    const start = performance.now()
    await expect(findIn({ PIPY: program })).rejects.toThrow('does not run')
    expect(performance.now() - start).toBeLessThan(5000)
  })

  it('does not fill the memory with what it prints', async () => {
    await expect(findIn({ PIPY: installScript('exec yes') })).rejects.toThrow('tells no version: y | y | y')
  })
})

describe('an interrupted download', () => {
  const cache = path.join(folder, 'downloads')
  const make = (/** @type {string} */ name) => mkdirSync(path.join(cache, name), { recursive: true })
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').slice(0, 8)
  const namespace = `${boot}${/\d+/.exec(readlinkSync('/proc/self/ns/pid'))?.[0]}`
  const living = `.pipy-${process.pid}-${readProcessStartTicks(process.pid)}-${namespace}-aaaaaa`
  afterEach(() => rmSync(cache, { recursive: true, force: true }))

  it('is removed if its maker has ended, and reported', async () => {
    const dead = `.k6-${process.pid}-1-${namespace}-aaaaaa`
    const foreign = '.envoy-1-1-7-aaaaaa'
    for (const name of [living, dead, foreign, '.pipy-aaaaaa', 'k6', '.other']) make(name)
    expect(await removeStaleDownloads(cache)).toEqual([`interrupted download ${path.join(cache, dead)}`])
    expect(readdirSync(cache).sort()).toEqual([foreign, living, '.other', '.pipy-aaaaaa', 'k6'].sort())
  })

  it('of a maker that cannot be checked here is removed after a day', async () => {
    const names = ['.envoy-1-1-7-aaaaaa', '.pipy-aaaaaa']
    for (const name of names) make(name)
    const yesterday = Date.now() / 1000 - 25 * 3600
    for (const name of names) utimesSync(path.join(cache, name), yesterday, yesterday)
    expect(await removeStaleDownloads(cache)).toHaveLength(2)
    expect(await removeStaleDownloads(path.join(cache, 'nowhere'))).toEqual([])
  })

  it('leaves nothing when it is stopped, and what was left before it is removed', async () => {
    make(`.k6-${process.pid}-1-${namespace}-aaaaaa`)
    // Stands for pip: downloads for ever.
    const bin = path.join(folder, 'bin')
    mkdirSync(bin, { recursive: true })
    writeFileSync(path.join(bin, 'python3'), '#!/bin/sh\nexec sleep 60\n', { mode: 0o755 })
    vi.stubEnv('PATH', `${bin}:${process.env.PATH}`)
    const stopping = new AbortController()
    const start = performance.now()
    const fetching = fetchTool(k6Tool, path.join(cache, 'k6'), stopping.signal)
    setTimeout(() => stopping.abort(new Error('interrupted')), 200)
    await expect(fetching).rejects.toThrow('interrupted')
    expect(performance.now() - start).toBeLessThan(2000)
    expect(readdirSync(cache)).toEqual([])
  })
})

describe('fetchPipy', () => {
  /** @type {http.Server} */
  let server
  let url = ''
  let sha256 = ''
  /** @type {import('node:net').Socket | null} */
  let gone = null

  beforeAll(async () => {
    const source = path.join(folder, 'release')
    mkdirSync(path.join(source, 'usr/local/bin'), { recursive: true })
    writeFileSync(path.join(source, 'usr/local/bin/pipy'), '#!/bin/sh\necho released\n')
    const archive = path.join(folder, 'release.tar.gz')
    await execa('tar', ['-czf', archive, '-C', source, 'usr/local/bin/pipy'])
    sha256 = hashOf(archive)
    server = http.createServer((request, response) => {
      if (request.url === '/silent') return
      if (request.url === '/gone') gone = request.socket
      response.writeHead(request.url === '/gone' ? 404 : 200)
      if (request.url === '/endless' || request.url === '/gone') response.write('more is to come')
      else response.end(readFileSync(archive))
    })
    const { address, port } = await listen(server)
    url = `http://${address}:${port}`
  })
  afterAll(() => {
    server.closeAllConnections()
    server.close()
  })

  const work = () => mkdtempSync(path.join(folder, 'work-'))

  it('takes the program out of the archive and notes its hash', async () => {
    const { program, origin } = await fetchPipy({ work: work(), url: `${url}/pipy.tar.gz`, expectedSha256: undefined })
    expect(readFileSync(program, 'utf8')).toContain('released')
    expect(origin).toEqual({ url: `${url}/pipy.tar.gz`, sha256 })
  })

  it('checks the hash against the one expected', async () => {
    const expectedSha256 = sha256.toUpperCase()
    await expect(fetchPipy({ work: work(), url: `${url}/p`, expectedSha256 })).resolves.toBeDefined()
    await expect(fetchPipy({ work: work(), url: `${url}/p`, expectedSha256: 'ab' })).rejects.toThrow(
      `has SHA-256 ${sha256}, and PIPY_SHA256 says ab`,
    )
  })

  it('says the status of an archive that is not there', async () => {
    await expect(fetchPipy({ work: work(), url: `${url}/gone` })).rejects.toThrow(`${url}/gone: status 404`)
  })

  it('ends a download when it is stopped', async () => {
    const stopping = new AbortController()
    setTimeout(() => stopping.abort(new Error('interrupted')), 100)
    const start = performance.now()
    await expect(fetchPipy({ work: work(), url: `${url}/endless`, signal: stopping.signal })).rejects.toThrow()
    expect(performance.now() - start).toBeLessThan(2000)
  })

  it('leaves no connection to a server that refused it', async () => {
    await expect(fetchPipy({ work: work(), url: `${url}/gone` })).rejects.toThrow('status 404')
    await waitForCondition(() => gone?.destroyed === true, { what: 'its connection to be closed', deadlineSeconds: 2 })
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
    [wrkTool, 'wrk-4.1.0-version.txt', '4.1.0'],
  ])('$name is read from what it prints', (spec, fixture, version) => {
    expect(spec.parseVersion(read(fixture))).toBe(version)
    expect(spec.isAccepted(version)).toBe(true)
  })

  it('k6 before 1.0 is not accepted', () => expect(k6Tool.isAccepted('0.57.0')).toBe(false))
})
