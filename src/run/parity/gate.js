import path from 'node:path'
import { PARITY_NAMES } from '../../judge/parity-rows.js'
import { BenchError, SiteLostError } from '../../lib/errors.js'
import { nameOf } from '../../model/arms.js'
import { countWorkers } from '../../services/specs.js'
import { startServices } from '../start-services.js'
import { createRig } from './rig.js'

/**
 * @import { Arm, ParityRow } from '../../model/types.ts'
 * @import { Testbed } from '../testbed.js'
 * @import { Row } from '../../node/parity/probe.js'
 * @import { Rig } from './rig.js'
 */

// Longer than on one machine: pods take their time.
const RIG_START_SECONDS = 60

/**
 * @typedef {{ testbed: Testbed, arms: Arm[], nextIndex: () => number, signal: AbortSignal, say: (line: string) => void }} GateOptions
 * @typedef {(options: GateOptions) => Promise<ParityRow[]>} GateParity
 */

/**
 * Before any load: starts each arm once and counts its workers, and tries each plane and variant with the corpus,
 * on processes of their own that are then ended (a body of 10 MiB leaves its mark on a process).
 * @type {GateParity}
 * @throws {BenchError} when an arm does not start or does not answer
 */
export async function gateParity({ testbed, arms, nextIndex, signal, say }) {
  const distinct = arms.filter(
    (arm, i) => arm.repeatOf === null && arms.findIndex(other => rowKey(other) === rowKey(arm)) === i,
  )
  say(`checking ${distinct.length} arms, and that the planes do equal work`)
  /** @type {ParityRow[]} */
  const rows = []
  const probed = new Map()
  for (const arm of distinct) {
    const folder = path.join(testbed.folders.raw, `check-${arm.id}`)
    const { deployment } = await startServices({ testbed, arm, start: nextIndex(), folder, signal })
    const sidecars = deployment.processes.filter(p => p.spec.role === 'sidecar')
    const looks = await testbed.site.target.look(sidecars).finally(() => deployment.remove())
    const workers = looks.map(l => l.workers)
    if (testbed.programs.planes[arm.plane].createSidecar === null) continue

    const plane = nameOf(arm)
    const { workers: ownWorkers } = arm.conditions
    if (!probed.has(plane)) probed.set(plane, await probePlane({ testbed, arm, index: nextIndex(), signal }))
    const asked = `${countWorkers(arm, { cpus: testbed.site.cpus, planes: testbed.programs.planes })} a sidecar`
    const found = `${[...new Set(workers)].join(' and ')} a sidecar`
    const own = { name: 'parity-workers', found, expected: asked, differences: [] }
    // Who reads no sockets cannot count them: then nothing is said.
    const counted = workers.includes(null) ? [] : [own]
    for (const row of [...probed.get(plane), ...counted])
      rows.push({ ...row, plane, link: arm.link, capCores: arm.capCores, workers: ownWorkers })
  }
  return rows
}

/**
 * @param {{ testbed: Testbed, arm: Arm, index: number, signal: AbortSignal }} options
 * @returns {Promise<Row[]>}
 */
async function probePlane({ testbed, arm, index, signal }) {
  const plane = testbed.programs.planes[arm.plane]
  const { folders } = testbed
  const starting = new AbortController()
  const timer = setTimeout(
    () => starting.abort(new BenchError(`it was not ready within ${RIG_START_SECONDS} s`)),
    RIG_START_SECONDS * 1000,
  )
  try {
    const rig = await createRig({
      ...{
        target: testbed.site.target,
        index,
        plane,
        tool: testbed.programs.tools[arm.plane],
        certificates: folders.certificates,
      },
      scripts: arm.variant ?? folders.pipyScripts,
      folder: path.join(folders.raw, `parity-${nameOf(arm).replace(/[:=]/g, '-')}`),
      profile: arm.profile,
      signal: AbortSignal.any([signal, starting.signal]),
    })
    clearTimeout(timer)
    try {
      return await probeRig(rig)
    } finally {
      await rig.close()
    }
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof BenchError) || error instanceof SiteLostError) throw error
    // It serves its link, and not what the corpus needs: then it is another thing than the planes beside it.
    const why = `does not serve the corpus: ${error.message.split('\n')[0]}`
    return PARITY_NAMES.filter(row => row !== 'parity-workers').map(row => ({
      ...{ name: row, found: why, expected: 'served', differences: [why] },
    }))
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Everything that is held equal and does not depend on a link.
 * @param {Rig} rig
 * @returns {Promise<Row[]>}
 */
export async function probeRig({ call, sidecars }) {
  const sumLogs = async () => {
    const logs = await Promise.all(sidecars.processes.map(p => p.readLog()))
    return logs.reduce((sum, log) => sum + log.length, 0)
  }
  const answers = await call('probeAnswers', undefined)
  const before = await sumLogs()
  const { row, requests } = await call('probePooling', undefined)
  const bytes = (await sumLogs()) - before
  const nothing = `nothing for ${requests} requests`
  const found = bytes === 0 ? nothing : `${bytes} bytes for ${requests} requests`
  return [...answers, row, { name: 'parity-logging', found, expected: nothing, differences: [] }]
}

/** @param {Arm} arm */
function rowKey(arm) {
  return JSON.stringify([nameOf({ ...arm, repeatOf: null }), arm.link, arm.capCores, arm.conditions.workers])
}
