import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { loadPlanes } from '../../src/dataplanes/registry.js'
import { BrokenToolError } from '../../src/lib/errors.js'
import { loadGenerators } from '../../src/loads/registry.js'
import { findSidecarTool } from '../../src/model/tools.js'
import { findPlane, findPrograms } from '../../src/prepare/programs.js'
import { findUnsupported } from '../../src/prepare/supported.js'
import { parseTopology } from '../../src/services/topology.js'
import { findTool as findRealTool } from '../../src/tools/find.js'
import { fakeTool } from '../fakes/fake-bench.js'
import { createArm, DEFAULT_CONDITIONS } from '../fakes/fake-records.js'
import { makeFolder } from '../fakes/scratch.js'

/** @import { PlaneChoice, ToolSpec } from '../../src/model/types.ts' */

const planes = await loadPlanes()
const { k6 } = await loadGenerators()

/** @param {string | null} variant @returns {PlaneChoice} */
const choose = variant => ({ plane: 'pipy', variant, profile: null })

/** @param {PlaneChoice[]} chosen */
async function find(chosen) {
  /** @type {string[]} */
  const looked = []
  const findTool = async (/** @type {ToolSpec} */ { name, path }) => {
    looked.push(path ?? name)
    return { ...fakeTool, name, path: path ?? name }
  }
  return {
    looked,
    ...(await findPrograms({ load: k6, planes, chosen, isPlaneRequired: true, arms: [], findTool })),
  }
}

describe('findPrograms', () => {
  it('finds the program that a variant names, beside the one of the plane', async () => {
    const { tools } = await find([choose(null), choose(process.execPath), choose('pipy-scripts')])
    const tool = /** @type {ToolSpec} */ (planes.pipy.tool)
    const variants = [null, process.execPath, 'pipy-scripts']
    const paths = variants.map(variant => findSidecarTool(tools, { tool, variant }).path)
    expect(paths).toEqual(['pipy', process.execPath, 'pipy'])
  })

  it('leaves out a plane whose program does not run, and finds the others', async () => {
    const findTool = async (/** @type {ToolSpec} */ { name }) => {
      if (name === 'envoy') throw new BrokenToolError('envoy does not run: MmapAligned() failed')
      return { ...fakeTool, name }
    }
    const chosen = [choose(null), { ...choose(null), plane: 'envoy' }]
    const options = { load: k6, planes, chosen, arms: [], findTool }
    for (const isPlaneRequired of [false, true]) {
      const { missing, tools } = await findPrograms({ ...options, isPlaneRequired })
      expect(missing).toEqual([{ plane: 'envoy', reason: 'envoy does not run: MmapAligned() failed' }])
      expect(Object.keys(tools)).toEqual(['pipy', 'k6'])
    }
    const alone = findPrograms({ ...options, chosen: chosen.slice(1), isPlaneRequired: true })
    await expect(alone).rejects.toThrow('MmapAligned() failed')
  })

  describe('of one proxy for a node', () => {
    const chosen = [{ plane: 'ztunnel', variant: null, profile: 'node' }]
    const options = { load: k6, planes, isPlaneRequired: true, arms: [] }
    const findTool = async (/** @type {ToolSpec} */ { name }) => ({ ...fakeTool, name })

    it('finds Python, too, which hands it the namespaces of pods', async () => {
      const { tools, lacks } = await findPrograms({ ...options, chosen, findTool })
      expect([Object.keys(tools), lacks]).toEqual([['ztunnel', 'k6', 'python3'], {}])
      const others = await findPrograms({ ...options, chosen: [{ ...chosen[0], profile: null }], findTool })
      expect(Object.keys(others.tools)).toEqual(['ztunnel', 'k6'])
    })

    it('refuses it before anything starts if it is missing, and says what to install', async () => {
      const findNone = async (/** @type {ToolSpec} */ spec) =>
        spec.name === 'python3' ? findRealTool(spec, { environment: { PATH: '/nowhere' } }) : findTool(spec)
      const { lacks, tools } = await findPrograms({ ...options, chosen, findTool: findNone })
      const reason =
        'it needs python3 >= 3.9 beside it: no python3 in PYTHON or PATH: apt install python3, or set PYTHON to its path'
      expect(lacks).toEqual({ 'ztunnel:node': reason })
      const arm = createArm({
        ...chosen[0],
        conditions: { ...DEFAULT_CONDITIONS, interception: 'redirect', tls: 'ecdsa-p256' },
      })
      const topology = parseTopology(readFileSync('bench/topologies/pair.yaml', 'utf8'), 'pair.yaml')
      const placed = { planes, arm, kind: /** @type {const} */ ('capacity'), topology, tools, cpus: 2, pinnableCpus: 2 }
      expect(findUnsupported({ ...placed, lacks })).toEqual({ reason })
      expect(findUnsupported({ ...placed, lacks: {} })).toBeNull()
      const plainArm = { ...arm, conditions: { ...arm.conditions, interception: /** @type {const} */ ('none') } }
      expect(findUnsupported({ ...placed, arm: plainArm, lacks: {} })?.isRefused).toBe(true)
    })

    it('takes no Python that cannot pass file descriptors', async () => {
      const folder = makeFolder('programs-test')
      const old = path.join(folder, 'python3')
      writeFileSync(old, '#!/bin/sh\necho Python 3.8.10\n', { mode: 0o755 })
      const findOld = async (/** @type {ToolSpec} */ spec) =>
        spec.name === 'python3' ? findRealTool(spec, { environment: { PYTHON: old } }) : findTool(spec)
      await expect(findPrograms({ ...options, chosen, findTool: findOld })).rejects.toThrow(
        `PYTHON=${old} is python3 3.8.10, wanted >= 3.9: set PYTHON to one that is >= 3.9`,
      )
    })
  })

  it('looks for no other if every arm names its own', async () => {
    const { looked } = await find([choose(process.execPath)])
    expect(looked).toEqual([k6.tool.name, process.execPath])
  })
})

describe('findPlane', () => {
  const folders = { pipyScripts: '/kit' }
  const findTool = async (/** @type {ToolSpec} */ { name, path = '' }) => ({ ...fakeTool, name, path })
  const findFor = (/** @type {string | null} */ variant) =>
    findPlane({ planes, choice: choose(variant), folders, findTool })

  it('gives a program of its own the scripts of the kit, and a folder of scripts the program of the plane', async () => {
    expect(await findFor(process.execPath)).toMatchObject({ tool: { path: process.execPath }, scripts: '/kit' })
    expect(await findFor('/mine')).toMatchObject({ tool: { path: '' }, scripts: '/mine' })
    expect(await findFor(null)).toMatchObject({ scripts: '/kit' })
  })

  it('says what is missing: the program, or the scripts of a profile', async () => {
    vi.stubEnv('FSM', '')
    const options = { planes, choice: { ...choose(null), profile: 'fsm' }, folders, findTool }
    await expect(findPlane(options)).rejects.toThrow('set FSM to')
    const missing = async () => ({ missing: 'no pipy' })
    await expect(findPlane({ ...options, findTool: missing })).rejects.toThrow('no pipy')
  })
})
