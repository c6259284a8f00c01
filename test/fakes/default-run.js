import { writeFakeRun } from './fake-folder.js'
import { createArm, createFakeProcess, createParityRow } from './fake-records.js'

/**
 * What a default `bench --cpu 1` leaves on a machine of two CPUs: no mesh, each plane and the first of them again (A/A),
 * whose generator was the limit.
 * @import { Manifest, TrialRecord } from '../../src/model/types.ts'
 */

export const NO_PIPY = 'no pipy in PIPY, PATH or the cache, and it cannot be fetched: status 403'

/**
 * @param {{ folder: string, hasPipy?: boolean, recorded?: number, rounds?: number, differs?: boolean, manifest?: Partial<Manifest> }}
 *   options differs: in equal work
 */
export function writeDefaultRun({ folder, hasPipy = true, differs = false, recorded, rounds, manifest = {} }) {
  const planes = hasPipy ? ['pipy', 'envoy'] : ['envoy']
  const load = { users: 200, warmupSeconds: 1.5, windowSeconds: 3.5 }
  const arm = (/** @type {object} */ fields) =>
    createArm({ link: 'gateway-ratings', cpuLimitCores: 1, load, ...fields })
  const arms = [
    arm({ id: 'none', plane: 'none', cpuLimitCores: null }),
    ...planes.map(plane => arm({ id: `${plane}-1`, plane })),
    arm({ id: `${planes[0]}-1-aa`, plane: planes[0], repeatOf: `${planes[0]}-1` }),
  ]
  const names = ['answers', 'refusals', 'tls', 'workers', 'pooling', 'logging']
  const parity = planes.flatMap(plane =>
    names.map(name =>
      createParityRow({
        name: `parity-${name}`,
        plane,
        expected: null,
        found: differs && name === 'tls' ? `TLS of ${plane}` : 'as it must',
      }),
    ),
  )
  return writeFakeRun({
    ...{
      folder,
      arms,
      recorded,
      rounds,
      manifest: { parity, notMeasured: hasPipy ? [] : [{ plane: 'pipy', reason: NO_PIPY }], ...manifest },
    },
    change: bindByGenerator,
  })
}

/** @param {TrialRecord} record @returns {TrialRecord} */
function bindByGenerator(record) {
  const { plane, cpuLimitCores } = record.trial.arm
  const cpuCores = plane === 'envoy' ? 0.6 : 0.4
  const sidecar = (/** @type {string} */ service) =>
    createFakeProcess({
      service,
      cpuCores,
      cpuSeconds: cpuCores,
      cpuLimitCores,
      cpuLimitReadBackCores: cpuLimitCores,
    })
  return {
    ...record,
    boundBy: 'generator',
    processes: plane === 'none' ? [] : [sidecar('gateway'), sidecar('ratings')],
    gates: /** @type {TrialRecord['gates']} */ ([
      {
        gate: 'generator',
        reason: 'the generator used 91 % of its CPUs (at most 80 %)',
        spoils: ['capacity', 'latency'],
      },
      ...(plane === 'envoy' && record.trial.round < 3
        ? [
            {
              gate: 'steady',
              reason: 'the halves of the window differ by more than 20 %',
              spoils: ['capacity', 'latency'],
            },
          ]
        : []),
    ]),
  }
}
