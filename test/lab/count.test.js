import { expect, it } from 'vitest'
import { computeHandshake, computeSpread } from '../../src/lab/count.js'
import { addHangingSidecars } from '../../src/lab/request-sender.js'
import { BenchError } from '../../src/lib/errors.js'

const PROCESSES = ['client', 'server', 'app'].map(service => {
  const role = service === 'app' ? 'application' : 'sidecar'
  return /** @type {any} */ ({ spec: { service, role } })
})

/** Fakes a target whose processes use so much CPU from look to look. @param {Record<string, number>} cores by service */
function createBusyTarget(cores) {
  let atSeconds = 10
  return {
    async look(/** @type {any[]} */ processes) {
      atSeconds += 0.5
      return processes.map(({ spec }) => ({
        ...{ memory: null, identity: [], workers: 1, idleCpuCores: null },
        cpu: { atSeconds, cpuSeconds: 3 + atSeconds * (cores[spec.service] ?? 0) },
      }))
    },
  }
}

it('a request without an answer names the sidecar that goes on using CPU, and no application or one that waits', async () => {
  const createHangingError = (
    /** @type {Record<string, number>} */ cores,
    message = 'request 7 of 200 failed: no answer within 1 s',
  ) =>
    addHangingSidecars(new BenchError(message), {
      target: /** @type {any} */ (createBusyTarget(cores)),
      processes: PROCESSES,
    })
  expect((await createHangingError({ client: 0.01, server: 0.98, app: 1 })).message).toBe(
    "request 7 of 200 failed: no answer within 1 s; server's sidecar still uses 98 % of a CPU: does it hang in a loop?",
  )
  expect((await createHangingError({ client: 0.01 })).message).toBe('request 7 of 200 failed: no answer within 1 s')
  expect((await createHangingError({ client: 1 }, 'request 7 of 200 failed: socket hang up')).message).toBe(
    'request 7 of 200 failed: socket hang up',
  )
})

it('a handshake is what a burst costs beyond its requests, for each connection that it opened', () => {
  const bursts = [
    { requests: 4, connections: 3, total: 4 * 100 + 3 * 5000 },
    { requests: 8, connections: 4, total: 8 * 100 + 4 * 5100 },
    { requests: 8, connections: 0, total: 800 },
  ]
  const handshake = computeHandshake(bursts, 100)
  expect(handshake).toEqual({ value: 5050, counts: [5000, 5100] })
  expect(handshake && computeSpread(handshake)).toBeCloseTo(100 / 5050)
})

it('a handshake is unknown if fewer than two bursts opened connections', () => {
  expect(computeHandshake([{ requests: 4, connections: 0, total: 400 }], 100)).toBeNull()
  expect(computeHandshake([{ requests: 4, connections: 1, total: 5400 }], 100)).toBeNull()
})
