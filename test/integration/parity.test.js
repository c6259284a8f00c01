import { setMaxListeners } from 'node:events'
import { mkdtempSync } from 'node:fs'
import path from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { listFeatures } from '../../src/model/features.js'
import { LEFT_OUT } from '../../src/parity/beside/corpus.js'
import { probeRig } from '../../src/parity/probe-plane.js'
import { createSlots } from '../../src/parity/slots.js'
import {
  CONFIGURATIONS,
  chooseInterception,
  findUntriedReason,
  listDeclaredLacks,
  writeParityCertificates,
} from '../../src/parity/try-plane.js'
import { sortDifferences } from '../../src/parity/verdict/lacks.js'
import { makeFolder } from '../fakes/scratch.js'
import { createLocalRig } from './local-rig.js'
import { sidecarPlanes } from './real-tools.js'

/**
 * @import { DataPlane, Tool } from '../../src/model/types.ts' @import { ProbedRow } from '../../src/parity/beside/probe.js'
 * @import { Measured } from '../../src/parity/rig.js' @import { Slot } from '../../src/parity/slots.js'
 */

const folder = makeFolder('parity-test')
const certificates = path.join(folder, 'certificates')
const { signal } = new AbortController()
// Each request of a check listens to it.
setMaxListeners(0, signal)
/** Of bytes and calls there are fewer forms. */
const TRIED = { 'http/1.1': 54, 'http/2': 54, grpc: 44, tcp: 7 }

/** The rows of mTLS. @param {Measured} measured @returns {Record<string, string>} */
function listTlsRows({ tls, trafficPolicy }) {
  if (tls === 'plaintext') {
    const nobody = 'nobody refused: there is no TLS'
    return { 'parity-refusals': nobody, 'parity-permissive': nobody, 'parity-tls': 'no TLS' }
  }
  const flawed = 'self-signed, another CA, expired, not yet valid'
  const unlisted =
    trafficPolicy === 'open'
      ? " refused; any identity of the mesh's CA accepted (open policy)"
      : ', another identity, a prefix of the identity, a suffix of the identity, an identity that begins with it, an identity that ends with it refused'
  const clients = `no certificate, ${flawed}, without clientAuth, TLS 1.2, a weak suite${unlisted}`
  return {
    'parity-refusals': `plaintext, ${clients}`,
    'parity-permissive': clients.replace(/ refused/, ' refused; plaintext accepted'),
    'parity-upstreams': `plaintext, ${flawed}, without serverAuth, TLS 1.2, a weak suite${unlisted}`,
    'parity-handshakes': 'each refused peer gets an alert in its handshake',
    'parity-suites': 'no suite but TLS_AES_128_GCM_SHA256',
    'parity-tls': `TLSv1.3 TLS_AES_128_GCM_SHA256 X25519 ${tls.replace(/\+(.+)/, (_, group) => `, ${group.toUpperCase()} first`)}`,
  }
}

beforeAll(() => writeParityCertificates(certificates, { isCertified: true }))

afterAll(() => {
  console.log(`The parity corpus leaves out:\n  ${LEFT_OUT.join('\n  ')}`)
})

const cases = sidecarPlanes.flatMap(plane =>
  Object.values(CONFIGURATIONS).map(measured => ({ ...plane, measured, with: measured.features ?? 'none' })),
)

// Most of the time of a case is spent on timeouts. As many go on together as the project of this file allows.
describe.for(splitIntoGroups(cases, 6))('group %$ of cases that go on together', group => {
  /** One for each case that was chosen. @type {Slot[]} */
  let slots = []
  /** Each case has its slot, also when it is tried again. @type {Map<string, Slot>} */
  const slotOf = new Map()

  it.concurrent.for(group)(
    'the sidecar of $plane.name with $measured.tls, $measured.protocol, the policy $measured.trafficPolicy and the features $with does what it must in every row',
    { timeout: 240_000 },
    async ({ plane, tool, measured }, context) => {
      const { id, suite } = context.task
      if (slots.length === 0) slots = createSlots(suite?.tasks.filter(({ mode }) => mode === 'run').length ?? 1)
      const slot = slotOf.get(id) ?? slots[slotOf.size]
      slotOf.set(id, slot)
      try {
        if (!tool) return context.skip(`needs ${plane.name}, which cannot be had here`)
        const untried = findUntriedReason(measured, { plane, tool })
        if (untried) return context.skip(untried)
        if (chooseInterception(plane, null) && process.getuid?.() !== 0)
          return context.skip('needs root, to make network namespaces')
        await tryCase({ plane, tool, measured, slot })
      } finally {
        slot.end()
      }
    },
  )
})

/** @param {{ plane: DataPlane, tool: Tool, measured: Measured, slot: Slot }} options */
async function tryCase({ plane, tool, measured, slot }) {
  const { protocol, features } = measured
  // Each try has a rig of its own: what a busy host spoiled once is not judged again.
  const { rows, endings } = await tryCorpus({ plane, tool, measured, slot })
  const lacks = listDeclaredLacks(plane, measured)
  const all = {
    'parity-answers': `${TRIED[protocol]} of ${TRIED[protocol]} as they must be`,
    ...(protocol === 'tcp' && { 'parity-next-endpoint': 'tried at the endpoint that is next' }),
    ...(protocol === 'grpc' && { 'parity-cancellation': 'passed on to the upstream' }),
    'parity-connect-timeout': 'given up by the connect timeout',
    'parity-early-answers': 'passed on whole',
    ...listTlsRows(measured),
    'parity-protocol': protocol === 'grpc' ? 'HTTP/2' : protocol.toUpperCase(),
    'parity-pooling': 'kept and used again',
    ...(features === undefined
      ? { 'parity-logging': 'nothing for 160 requests' }
      : { 'parity-features': listFeatures(features).join(', ') }),
  }
  const held = rows.map(row => ({ name: row.name, ...sortDifferences(row, lacks) }))
  expect(held.flatMap(({ name, undeclared }) => undeclared.map(line => `${name}: ${line}`)).join('\n')).toBe('')
  expect(Object.fromEntries(rows.map(row => [row.name, row.expected]))).toEqual(all)
  // What a plane lacks no more is to be declared no more.
  expect(held.flatMap(({ stale }) => stale)).toEqual([])
  expect(lacks.filter(({ row }) => !rows.some(({ name }) => name === row))).toEqual([])
  expect(endings, 'the processes that were started').toEqual([null, null, null])
}

/** @template T @param {T[]} list @param {number} size @returns {T[][]} */
function splitIntoGroups(list, size) {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, i) => list.slice(i * size, (i + 1) * size))
}

/**
 * @param {{ plane: DataPlane, tool: Tool, measured: Measured, slot: Slot }} options
 * @returns {Promise<{ rows: ProbedRow[], endings: unknown[] }>} endings: of the sidecars, after all rows; null while one runs
 */
async function tryCorpus({ plane, tool, measured, slot }) {
  const rigFolder = mkdtempSync(path.join(folder, `${plane.name}-`))
  const interception = chooseInterception(plane, null)
  const rig = await createLocalRig({ plane, tool, signal, certificates, measured, interception, folder: rigFolder })
  try {
    const rows = await probeRig(rig, slot)
    const sidecars = rig.sidecars.processes.filter(({ spec }) => spec.role === 'sidecar')
    return { rows, endings: sidecars.map(p => p.ending()) }
  } finally {
    await rig.close()
  }
}
