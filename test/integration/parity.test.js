import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { listFeatures } from '../../src/model/features.js'
import { openLedger } from '../../src/node/ledger.js'
import { LEFT_OUT } from '../../src/parity/beside/corpus.js'
import { probeRig } from '../../src/parity/gate.js'
import { createRig } from '../../src/parity/rig.js'
import { CONFIGURATIONS, findUntried, writeParityCertificates } from '../../src/parity/try-plane.js'
import { createLocalTarget } from '../../src/targets/local/index.js'
import { capWay, sidecarPlanes } from './real-tools.js'

/**
 * @import { DataPlane, Tool } from '../../src/model/types.ts'
 * @import { Row } from '../../src/parity/beside/probe.js'
 */

const folder = mkdtempSync(path.join(os.tmpdir(), 'parity-test-'))
const certificates = path.join(folder, 'certificates')
const { signal } = new AbortController()

const REFUSED =
  'plaintext (in strict mode), no certificate, self-signed, another CA, expired, not yet valid, without clientAuth, without serverAuth, TLS 1.2, a weak suite'
const UNLISTED =
  'another identity, a prefix of the identity, a suffix of the identity, an identity that begins with it, an identity that ends with it'
const ACCEPTS = {
  listed: `${REFUSED}, ${UNLISTED} refused`,
  open: `${REFUSED} refused; any identity of the mesh's CA accepted (open policy)`,
}

beforeAll(() => writeParityCertificates(certificates))

afterAll(() => {
  rmSync(folder, { recursive: true, force: true })
  console.log(`The parity corpus leaves out:\n  ${LEFT_OUT.join('\n  ')}`)
})

const cases = sidecarPlanes.flatMap(plane =>
  CONFIGURATIONS.map(measured => ({ ...plane, measured, with: measured.features ?? 'none' })),
)

it.for(cases)(
  'the sidecar of $plane.name with $measured.tls, $measured.protocol, the policy $measured.trafficPolicy and the features $with does what it must in every row',
  { timeout: 120_000 },
  async ({ plane, tool, measured }, context) => {
    const { tls, protocol, trafficPolicy, features } = measured
    if (!tool) return context.skip(`needs ${plane.name}, which cannot be had here`)
    const untried = findUntried(measured, { plane, tool })
    if (untried) return context.skip(untried)

    // Each try has a rig of its own: what a busy host spoiled once is not judged again.
    const { rows, endings } = await tryCorpus({ plane, tool, measured })
    const lacks = plane.findLacks?.(measured) ?? {}
    const suite = `TLSv1.3 TLS_AES_128_GCM_SHA256 X25519 ${tls}`
    const all = {
      'parity-answers': '53 of 53 as they must be',
      'parity-connect-timeout': 'given up by the connect timeout',
      'parity-early-answers': 'passed on whole',
      'parity-refusals': tls === 'plaintext' ? 'nobody refused: there is no TLS' : ACCEPTS[trafficPolicy],
      'parity-tls': tls === 'plaintext' ? 'no TLS' : suite,
      'parity-protocol': protocol.toUpperCase(),
      'parity-pooling': 'kept and used again',
      ...(features === undefined
        ? { 'parity-logging': 'nothing for 160 requests' }
        : { 'parity-features': listFeatures(features).join(', ') }),
    }
    const [short, whole] = [true, false].map(isLacking => rows.filter(({ name }) => name in lacks === isLacking))
    expect(whole.flatMap(row => row.differences).join('\n')).toBe('')
    expect(Object.fromEntries(rows.map(row => [row.name, row.expected]))).toEqual(all)
    expect(whole.map(row => row.found)).toEqual(whole.map(row => row.expected))
    // A row that a plane lacks no more is to be declared no more.
    expect(short.map(row => row.name)).toEqual(Object.keys(lacks))
    for (const row of short) expect(row.found).not.toBe(row.expected)
    expect(endings, 'the processes that were started').toEqual([null, null, null])
  },
)

/**
 * @param {{ plane: DataPlane, tool: Tool, measured: typeof CONFIGURATIONS[number] }} options
 * @returns {Promise<{ rows: Row[], endings: unknown[] }>} endings: of the sidecars, after all rows; null while one runs
 */
async function tryCorpus({ plane, tool, measured }) {
  const target = await createLocalTarget({
    ledger: openLedger({ runId: `test-${process.pid}-${Date.now()}` }),
    way: capWay,
  })
  try {
    const rig = await createRig({
      ...{ target, index: 0, plane, tool, scripts: path.resolve('pipy-scripts'), signal, certificates, measured },
      folder: mkdtempSync(path.join(folder, `${plane.name}-`)),
      profile: null,
    })
    try {
      const rows = await probeRig(rig)
      return { rows, endings: rig.sidecars.processes.map(p => p.ending()) }
    } finally {
      await rig.close()
    }
  } finally {
    await target.close()
  }
}
