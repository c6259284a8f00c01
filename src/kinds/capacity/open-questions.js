import { findQuantity } from '../../judge/quantities.js'
import { renderCommand } from '../../lib/render-command.js'
import { AXES, renderArmName } from '../../model/arms.js'
import { canBindOnlyBesideWrk, findLargestBindingCpuLimit } from '../../model/cpu-limits.js'
import { DEFAULT_GENERATOR, findGenerator } from '../../model/tools.js'

/**
 * Questions that windows under load leave open, with the commands that answer them. Pure.
 * @import { Summary, SummaryArm } from '../../model/types.ts'
 * @import { Command, NotMeasured } from '../../answer/picture.js'
 */

// Share of the rate at saturation: a proxy far below it wakes up for every request, and costs up to
// three times as much CPU for it (measured: 169 and 458 µs for Pipy, 336 and 759 for Envoy at 500 requests/s).
const RATE_SHARE = 0.15
const DEFAULT_LINK = 'gateway-ratings'
const DEFAULT_PLANES = ['none', 'pipy', 'envoy']
const REPEATED = /** @type {const} */ (['tls', 'protocol', 'features'])

/** Why no capacity was reached, by what bound; `%` is the number of users, `@` the generator. @type {Record<string, string>} */
const WHY = {
  users: 'no sidecar reached its limit with %',
  generator: '@ filled its CPUs before a sidecar reached its limit',
  host: '@ and the applications filled the machine before a sidecar reached its limit',
  application: 'an application filled a CPU before a sidecar reached its limit',
  worker: 'a worker thread filled a CPU before its sidecar reached its limit',
}

/** The gate of other programs on the machine: the remedy is the same run on a quiet one. */
const NEIGHBOUR = 'neighbour'

/**
 * Lists open questions of a closed loop: the capacity, if some sidecar did not reach its limit, and the latency, if
 * each arm has a rate.
 * @param {Pick<Summary, 'machine' | 'tools'> & { arms: SummaryArm[] }} measured
 * @returns {NotMeasured[]} []: there are none, or the arms are interleaved or of another load
 */
export function listOpenQuestions({ arms: allArms, machine, tools }) {
  const arms = allArms.filter(arm => !arm.load.isInterleaved)
  if (arms.length === 0 || arms[0].load.kind !== 'closed') return []
  const sidecars = arms.filter(arm => arm.sidecars.length > 0 && arm.cpuLimitCores !== null)
  const latency = createLatencyQuestion({ arms, sidecars })
  const unbound = sidecars.filter(arm => arm.boundBy !== 'sidecar' && arm.boundBy !== null)
  if (unbound.length === 0) return latency
  const [{ boundBy, cpuLimitCores, load, spoiled }] = unbound
  const what = `capacity at ${cpuLimitCores} CPU each`
  if (boundBy === 'host' && spoiled.some(({ gate }) => gate === NEIGHBOUR)) {
    const command = renderRepeatCommand(arms, `--cpu ${cpuLimitCores}`)
    const commands = [{ command, gives: 'the same, once nothing else runs on this machine' }]
    return [{ what, why: 'other programs filled the machine before a sidecar reached its limit', commands }, ...latency]
  }
  const generator = findGenerator({ tools }) ?? DEFAULT_GENERATOR
  const why = (WHY[`${boundBy}`] ?? 'no sidecar reached its limit')
    .replace('%', `${load.users} users`)
    .replace('@', generator)
  const commands = listCommands({ arms, sidecars, machine, tools })
  return [{ what, why, commands }, ...latency]
}

/**
 * Lists commands that would measure a capacity; those that keep this limit and link come first.
 * @param {Pick<Summary, 'machine' | 'tools'> & { arms: SummaryArm[], sidecars: SummaryArm[] }} options
 * @returns {Command[]} []: none would on this machine
 */
function listCommands({ arms, sidecars, machine, tools }) {
  const [{ load, link }] = arms
  const sameOptions = renderOptions(arms)
  const isLoadElsewhere = machine.loadHost !== undefined
  const largest = findLargestBindingCpuLimit(Number(machine.cpus), isLoadElsewhere)
  const smallest = Math.min(...sidecars.map(arm => arm.cpuLimitCores ?? Number.POSITIVE_INFINITY))
  /** @type {Command[]} */
  const commands = []
  if (largest < smallest) {
    const on = link === DEFAULT_LINK ? '' : ` --link ${link}`
    const rest = `${on}${sameOptions}${isLoadElsewhere ? ` --load-host ${machine.loadHost?.host}` : ''}`
    const gives = 'capacity, at a limit that sidecars reach here'
    commands.push({ command: renderCommand('bench', `--cpu ${largest}${rest}`), gives })
  }
  const options = { cpuLimit: smallest, cpus: Number(machine.cpus), sidecars: sidecars[0].sidecars.length }
  const isForWrk = !isLoadElsewhere && arms[0].target === 'local' && load.connections === 'kept' && !load.hasCertificate
  if (isForWrk && findGenerator({ tools }) === DEFAULT_GENERATOR) {
    const renderWrkCommand = (/** @type {string} */ on) =>
      renderCommand('bench', `--cpu ${smallest} --link ${on}${sameOptions} --generator wrk`)
    if (canBindOnlyBesideWrk(options))
      commands.unshift({
        command: renderWrkCommand(link),
        gives: 'capacity at this limit, beside a lighter load generator',
      })
    else if (link === DEFAULT_LINK && canBindOnlyBesideWrk({ ...options, sidecars: 1 }))
      commands.push({ command: renderWrkCommand('ratings'), gives: 'capacity of one sidecar at this limit' })
  }
  return commands
}

/**
 * Creates the open question of latency, with the command that measures it at a share of the slowest arm's rate.
 * @param {{ arms: SummaryArm[], sidecars: SummaryArm[] }} options
 * @returns {NotMeasured[]} one; []: an arm has no rate
 */
function createLatencyQuestion({ arms, sidecars }) {
  const slowest = Math.min(...arms.map(arm => findQuantity(arm, 'throughput').median ?? 0))
  if (slowest <= 0) return []
  const rate = Math.max(1, Number((slowest * RATE_SHARE).toPrecision(1)))
  const cpu = sidecars.length > 0 ? ` --cpu ${sidecars[0].cpuLimitCores}` : ''
  const command = renderRepeatCommand(arms, `--rate ${rate}${cpu}`)
  return [{ what: 'latency', why: '', commands: [{ command, gives: `p99 of each proxy at ${rate} req/s` }] }]
}

/**
 * Renders a command of `bench` with the same link, planes and conditions.
 * @param {SummaryArm[]} arms
 * @param {string} options that come first
 * @returns {string}
 */
function renderRepeatCommand(arms, options) {
  const [{ link }] = arms
  const on = link === DEFAULT_LINK ? '' : ` --link ${link}`
  return renderCommand('bench', `${options}${on}${renderOptions(arms)}`)
}

/**
 * Renders the options for the same planes, TLS, protocol and features.
 * @param {SummaryArm[]} arms
 * @returns {string} begins with a space; empty: all are the defaults
 */
function renderOptions(arms) {
  const renderWholeName = (/** @type {SummaryArm} */ { variant, ...arm }) =>
    `${renderArmName({ ...arm, variant: null })}${variant ? `=${variant}` : ''}`
  const planes = [...new Set(arms.filter(arm => !arm.repeatOf).map(renderWholeName))]
  const axes = REPEATED.flatMap(name => {
    const values = [...new Set(arms.filter(({ hasSidecars }) => hasSidecars).map(AXES[name].of))]
    return values.length === 0 || (values.length === 1 && values[0] === AXES[name].values[0])
      ? []
      : [` --${name} ${values.join(',')}`]
  })
  const areDefault = planes.every(plane => DEFAULT_PLANES.includes(plane))
  return [...(areDefault ? [] : [` --planes ${planes.join(',')}`]), ...axes].join('')
}
