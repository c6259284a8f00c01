import { judgeTrial } from '../judge/gates.js'
import { listSidecars, sumValues } from '../judge/record/measures.js'
import { renderArmName } from '../model/arms.js'
import { SCHEMA_VERSION } from '../model/versions.js'
import { countGeneratorCpus } from './generator.js'

/**
 * The record of a trial: blank, with the fields of its start, and judged.
 * @import { Trial, TrialRecord } from '../model/types.ts'
 * @import { Started } from './start-services.js'
 * @import { Testbed } from './kind.js'
 * @import { TrialContext } from './trial.js'
 */

/**
 * Creates the record of a trial that has not run: its outcome is `failed` until `judgeRecords` sets it. `phasesSeconds` is the object of
 * the clock, which it goes on filling.
 * @param {TrialContext} context
 * @param {Trial} trial
 * @returns {TrialRecord}
 */
export function createBlankRecord({ testbed, clock }, trial) {
  return {
    schemaVersion: SCHEMA_VERSION,
    trial,
    target: testbed.site.target.name,
    startedAt: new Date().toISOString(),
    outcome: 'failed',
    reasons: [],
    window: null,
    load: null,
    processes: [],
    host: null,
    placement: testbed.layout.placementOf(trial.arm),
    generatorCpus: countGeneratorCpus(testbed, trial.arm),
    samples: null,
    orchestratorCpuSeconds: null,
    boundBy: null,
    isSteady: null,
    gates: [],
    changes: null,
    ended: [],
    phasesSeconds: clock.seconds,
  }
}

/**
 * Creates the field of the bytes of an answer, for a pipeline with a request of its own.
 * @param {Started} services
 * @returns {{ answerBytes?: number }} {}: the request is the kit's
 */
export function createAnswerFields({ entry }) {
  return entry?.request ? { answerBytes: entry.request.bytes } : {}
}

/**
 * Adds the arms that stood together to complete records, and judges them by the gates that the run has not set aside.
 * @param {TrialRecord[]} records of arms that stood together, with their windows
 * @param {Testbed} testbed
 * @returns {TrialRecord[]} copies, in the same order
 */
export function judgeRecords(records, { settings }) {
  const relaxed = settings.relaxes.map(({ gate }) => gate)
  return addBesideFields(records).map(record => ({
    ...record,
    ...judgeTrial(/** @type {import('../judge/gates/gate.js').GatedRecord} */ (record), relaxed),
  }))
}

/**
 * Adds to the records of interleaved arms the list of all arms that stood together, with their connections.
 * @param {TrialRecord[]} records
 * @returns {TrialRecord[]} a single record stays as it is
 */
function addBesideFields(records) {
  if (records.length === 1) return records
  const beside = records.map(record => {
    const { arm } = record.trial
    const { protocol, tls, services } = arm.conditions
    return {
      armId: arm.id,
      // A gate compares connections of arms with the same name. Arms that differ in one of these may hold more or fewer.
      name: `${renderArmName({ ...arm, repeatOf: null })} (${protocol}, ${tls}, ${services}, ${arm.load.idleConnections ?? 0})`,
      connections: sumValues(listSidecars(record), process => process.connections ?? null),
    }
  })
  return records.map(record => ({ ...record, beside }))
}
