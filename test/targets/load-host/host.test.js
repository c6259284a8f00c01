import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { execa } from 'execa'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { callSafely } from '../../../src/lib/call-safely.js'
import { SiteLostError } from '../../../src/lib/errors.js'
import { waitForCondition } from '../../../src/lib/wait.js'
import { k6Tool } from '../../../src/loads/k6/index.js'
import { wrkTool } from '../../../src/loads/wrk/index.js'
import { createProcess } from '../../../src/model/processes.js'
import { listPids, readProcFile } from '../../../src/node/kernel/proc-files.js'
import { renderShellCommand } from '../../../src/targets/load-host/connection.js'
import { openLoadHost } from '../../../src/targets/load-host/host.js'
import { awaitSample, startRemoteProcess } from '../../../src/targets/load-host/process.js'
import { installFakeSsh } from '../../fakes/fake-ssh.js'
import { listOpenFiles } from '../../fakes/open-files.js'
import { makeFolder } from '../../fakes/scratch.js'

/** @import { ProcessSpec } from '../../../src/model/types.ts' */

const ignore = () => {}
// A k6 that is on the PATH of the machine of the tests must not be found there.
const HIDDEN = { ...k6Tool, name: 'far-k6' }
const K6 = '#!/bin/sh\necho "k6 v1.1.0 (go1.24)"\n'
/** @type {ReturnType<typeof installFakeSsh>} */
let ssh
let folder = ''
beforeEach(() => {
  ssh = installFakeSsh()
  folder = makeFolder('load-host-test')
})
afterEach(() => ssh.close())

/** @param {Partial<Parameters<typeof openLoadHost>[0]>} [options] */
const open = options =>
  openLoadHost({
    ...{ host: 'sam@there.test', folder, environment: {}, signal: new AbortController().signal },
    ...{ findHere: async () => ({ missing: 'nothing is here' }), say: ignore },
    ...options,
  })

/** @param {Partial<ProcessSpec>} fields */
const specOf = fields =>
  createProcess({ service: 'k6', role: 'generator', program: '/bin/sh', argv: [], folder, listens: [], ...fields })

const isAlive = (/** @type {number} */ pid) => callSafely(() => process.kill(pid, 0), false)

it('closes the log of a process that cannot be started, since the connection is lost', async () => {
  const start = () => {
    throw new SiteLostError('the connection is lost')
  }
  const options = { spec: specOf({}), folder, connection: { start }, hostCpus: 1 }
  await expect(startRemoteProcess(/** @type {any} */ (options))).rejects.toThrow('the connection is lost')
  expect(listOpenFiles(folder)).toEqual([])
})

/** Opens one, starts something there, and finds the program that keeps the connection. @param {number} [beatMs] */
async function openKept(beatMs) {
  const mark = `${process.pid}-${path.basename(folder)}`
  const loadHost = await open({ environment: { HOST_TEST: mark }, beatMs })
  const started = await loadHost.start(specOf({ argv: ['-c', 'sleep 60'] }), folder)
  const keeper = listPids().find(
    pid => readProcFile(`/proc/${pid}/environ`).includes(mark) && readProcFile(`/proc/${pid}/cmdline`).includes('keep'),
  )
  return { loadHost, started, keeper: Number(keeper) }
}

describe('a machine of the load', () => {
  it.each([
    ['unknown.test', /does not know its host key.*accept it with: ssh unknown\.test/],
    ['closed.test', /accepts none of the keys.*ssh-copy-id closed\.test/],
    ['nowhere.test', /cannot be reached.*Connection refused.*sshd runs there/],
  ])('is refused if there is no connection, with what to do: %s', async (host, words) => {
    await expect(open({ host })).rejects.toThrow(words)
  })

  it('is refused if there is no ssh here', async () => {
    process.env.PATH = folder
    await expect(open()).rejects.toThrow(/no ssh here.*apt install openssh-client/)
  })

  it('is refused if its clock is apart, or cannot be read', async () => {
    ssh.addProgram('date', '#!/bin/sh\nexec /bin/date -d "5 seconds" "$@"\n')
    await expect(open()).rejects.toThrow(/clock of sam@there\.test is 5\.0 s ahead of.*timedatectl set-ntp true/)
    ssh.addProgram('date', '#!/bin/sh\necho 1795345936%N\n')
    await expect(open()).rejects.toThrow(/date \+%s%N says "1795345936%N" there; install GNU coreutils/)
    expect(ssh.listTemporary()).toEqual([])
  })

  it('is refused if it is no Linux', async () => {
    ssh.addProgram('uname', '#!/bin/sh\necho Darwin\n')
    await expect(open()).rejects.toThrow('it is Darwin, and Linux is needed')
  })

  it('is described, with its clock and the way to it', async () => {
    const loadHost = await open()
    expect(loadHost.machine).toMatchObject({ host: 'sam@there.test', cpus: os.availableParallelism() })
    expect(loadHost.machine.cpuModel).toBe(os.cpus()[0].model.trim())
    expect(loadHost.clientAddress).toBe('127.0.0.1')
    expect(Math.abs(loadHost.clock.aheadMs)).toBeLessThanOrEqual(loadHost.clock.uncertaintyMs)
    expect(loadHost.clock.roundTripMs).toBeLessThan(1000)
    await loadHost.close()
  })

  it('runs a program with the scripts that are sent, gives its log and its ending, and keeps nothing', async () => {
    const scripts = path.join(folder, "it's a folder")
    mkdirSync(scripts)
    writeFileSync(path.join(scripts, 'hello'), 'hello from the script\n')
    const loadHost = await open()
    const at = loadHost.locate(scripts)
    const argv = ['-c', `cat "$1/hello"; echo "$NAME" >&2; sleep 0.5; exit 7`, 'sh', at]
    const process = await loadHost.start(specOf({ argv, env: { NAME: "O'Hara $HOME" }, scripts: [at] }), folder)
    expect(await process.exited).toBe('status 7')
    expect(await process.readLog()).toBe("hello from the script\nO'Hara $HOME\n")
    expect(process.samples.length).toBeGreaterThan(1)
    expect(readFileSync(path.join(folder, 'k6-generator.log'), 'utf8')).toContain('hello')
    await loadHost.close()
    expect(ssh.listTemporary()).toEqual([])
  })

  it('ends what it runs when that is stopped, with all its children', async () => {
    const loadHost = await open()
    const process = await loadHost.start(specOf({ argv: ['-c', 'sleep 60 & echo $!; wait'] }), folder)
    await waitForCondition(async () => /\d\n/.test(await process.readLog()), { what: 'its child', deadlineSeconds: 5 })
    const child = Number(await process.readLog())
    expect(isAlive(child)).toBe(true)
    await process.stop()
    await waitForCondition(() => !isAlive(child), { what: 'its end', deadlineSeconds: 5 })
    await loadHost.close()
  })

  it('says that a connection was lost, and to go on later', async () => {
    const { loadHost, started, keeper } = await openKept()
    process.kill(keeper, 'SIGKILL')
    await started.stop()
    await expect(started.renderFailure('k6 died')).rejects.toThrow(SiteLostError)
    await expect(loadHost.start(specOf({}), folder)).rejects.toThrow(
      /connection to sam@there\.test was lost.*npm run bench -- --resume/,
    )
    await loadHost.close()
  })

  it('is lost when its pings go unanswered, and no trial fails for it', async () => {
    const { loadHost, started, keeper } = await openKept(100)
    process.kill(keeper, 'SIGSTOP')
    const lost = await awaitSample(started, Number.POSITIVE_INFINITY).catch(error => error)
    expect(lost).toBeInstanceOf(SiteLostError)
    expect(lost.message).toMatch(/was lost: 5 pings went unanswered.*npm run bench -- --resume/)
    await started.stop()
    await loadHost.close()
  })

  it('gets the credentials of a load that speaks mTLS, and nothing else of their folder', async () => {
    const keys = path.join(folder, 'keys')
    mkdirSync(keys)
    for (const name of ['load.crt', 'load.key', 'other.key']) writeFileSync(path.join(keys, name), `${name}\n`)
    const loadHost = await open()
    const at = loadHost.locate(keys)
    const credentials = ['load.crt', 'load.key'].map(name => path.join(at, name))
    const started = await loadHost.start(specOf({ argv: ['-c', 'cd "$1" && cat *', 'sh', at], credentials }), folder)
    expect(await started.exited).toBe('status 0')
    expect(await started.readLog()).toBe('load.crt\nload.key\n')
    await loadHost.close()
    expect(ssh.listTemporary()).toEqual([])
  })

  it('ends what it runs, and removes its folder, when nothing is heard of this machine', async () => {
    const keep = readFileSync('src/targets/load-host/keep.sh', 'utf8')
    const child = spawn('/bin/sh', ['-c', keep, 'keep', '1'], { env: { ...process.env, TMPDIR: folder } })
    const load = spawn('sleep', ['60'], { detached: true })
    const ended = new Promise(resolve => load.on('exit', (_, by) => resolve(by)))
    const at = await new Promise(resolve =>
      child.stdout.on('data', text => resolve(`${text}`.trim().split(' ').at(-1))),
    )
    writeFileSync(path.join(at, 'pids', `${load.pid}`), `${load.pid}\n`)
    expect(await ended).toBe('SIGKILL')
    await waitForCondition(() => !existsSync(at), { what: 'its end', deadlineSeconds: 5 })
    child.stdin.destroy()
  })
})

describe('a program of the load there', () => {
  const hashOf = (/** @type {string} */ text) => createHash('sha256').update(text).digest('hex')
  const copyOf = (/** @type {string} */ sha256) =>
    path.join(ssh.there, 'cache', 'sidecar-bench', 'far-k6', sha256, 'far-k6')
  const here = { name: 'k6', path: '', version: '1.1.0', sha256: '', source: 'PATH' }
  beforeEach(() => {
    here.path = path.join(folder, 'k6')
    writeFileSync(here.path, K6)
    here.sha256 = hashOf(K6)
  })

  it('is the one on PATH, if that is new enough', async () => {
    ssh.addProgram('k6', K6)
    const loadHost = await open()
    expect(await loadHost.findTool(k6Tool)).toEqual({
      ...{ name: 'k6', version: '1.1.0', source: 'PATH of sam@there.test', sha256: here.sha256 },
      path: path.join(ssh.there, 'bin', 'k6'),
    })
    await loadHost.close()
    ssh.addProgram('k6', K6.replace('1.1.0', '0.57.0'))
    const other = await open()
    await expect(other.findTool(k6Tool)).rejects.toThrow(
      /k6 on sam@there\.test is k6 0\.57\.0, wanted >= 1\.0: install/,
    )
    await other.close()
  })

  it('is copied from here once, and again if the copy is another', async () => {
    /** @type {string[]} */
    const said = []
    const open1 = () => open({ findHere: async () => here, say: line => said.push(line) })
    const copy = copyOf(here.sha256)
    for (const broken of [null, null, 'no program']) {
      if (broken) writeFileSync(copy, broken)
      const loadHost = await open1()
      expect(await loadHost.findTool(HIDDEN)).toMatchObject({ path: copy, source: 'copied to sam@there.test' })
      expect(readFileSync(copy, 'utf8')).toBe(K6)
      await loadHost.close()
    }
    expect(said).toEqual(Array(2).fill(`copying far-k6 1.1.0 to sam@there.test:${copy}`))
  })

  it('is the one of the run, if another machine copied another build there', async () => {
    const first = await open({ findHere: async () => here })
    await first.findTool(HIDDEN)
    const build = K6.replace('1.1.0', '1.2.0')
    const other = { ...here, path: path.join(folder, 'other'), sha256: hashOf(build) }
    writeFileSync(other.path, build)
    const second = await open({ findHere: async () => other })
    expect(await second.findTool(HIDDEN)).toMatchObject({ path: copyOf(other.sha256), version: '1.2.0' })
    expect(readFileSync(copyOf(here.sha256), 'utf8')).toBe(K6)
    await first.close()
    await second.close()
  })

  it('is refused if it does not arrive as it was sent', async () => {
    const loadHost = await open({ findHere: async () => ({ ...here, sha256: 'f'.repeat(64) }) })
    await expect(loadHost.findTool(HIDDEN)).rejects.toThrow(
      new RegExp(`far-k6 could not be copied to sam@there.test:.*its SHA-256 is ${here.sha256} there and f+ here`),
    )
    // A part of a program must not be run later.
    expect(readdirSync(path.dirname(copyOf('f'.repeat(64))))).toEqual([])
    await loadHost.close()
  })

  it('is missing if none can be had, with what to do', async () => {
    const loadHost = await open()
    expect(await loadHost.findTool({ ...wrkTool, name: 'no-wrk' })).toEqual({
      missing: 'no no-wrk on the PATH of sam@there.test: apt install wrk there',
    })
    expect(await loadHost.findTool(HIDDEN)).toEqual({
      missing: 'no far-k6 on the PATH of sam@there.test, and none here to copy: nothing is here',
    })
    await loadHost.close()
    ssh.addProgram('uname', '#!/bin/sh\n[ "$1" = -m ] && echo riscv64 || echo Linux\n')
    const other = await open({ findHere: async () => here })
    expect(await other.findTool(HIDDEN)).toEqual({
      missing: expect.stringMatching(/and it is riscv64 and this machine \w+: install far-k6 >= 1\.0 there/),
    })
    await other.close()
  })
})

it('quotes every word for the shell there', async () => {
  const words = ["it's", '$HOME', '`id`', 'a b', '\\', '"', '*', '!x', '']
  const { stdout } = await execa('/bin/sh', ['-c', renderShellCommand(['printf', '%s|', ...words])])
  expect(stdout).toBe(`${words.join('|')}|`)
})
