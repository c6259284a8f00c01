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
/** Axes whose values a command repeats, if they are not the defaults. */
const REPEATED_AXES = /** @type {const} */ (['tls', 'protocol', 'features'])

/**
 * Reasons why no capacity was reached, by what bound an arm; `%` is the number of users, `@` the generator.
 * @type {Record<string, string>}
 */
const REASONS = {
  users: 'no sidecar reached its limit with %',
  generator: '@ filled its CPUs before a sidecar reached its limit',
  host: '@ and the applications filled the machine before a sidecar reached its limit',
  application: 'an application filled a CPU before a sidecar reached its limit',
  worker: 'a worker thread filled a CPU before its sidecar reached its limit',
}

/** The gate of other programs on the machine: the remedy is the same run on a quiet one. */
const NEIGHBOUR = 'neighbour'

/**
 * Arms of a closed loop, and the machine and the tools that ran it.
 * @typedef {Pick<Summary, 'machine' | 'tools'> & { arms: SummaryArm[] }} Measured
 */

/**
 * Lists open questions of a closed loop: the capacity, if some sidecar did not reach its limit, and the latency, if
 * each arm has a throughput.
 * @param {Measured} measured arms: of any load
 * @returns {NotMeasured[]} []: there are none, or the arms are interleaved or of another load
 */
export function listOpenQuestions({ arms: allArms, machine, tools }) {
  const arms = allArms.filter(arm => !arm.load.isInterleaved)
  if (arms.length === 0 || arms[0].load.kind !== 'closed') return []
  const sidecars = arms.filter(arm => arm.sidecars.length > 0 && arm.cpuLimitCores !== null)
  return [...createCapacityQuestion({ arms, machine, tools }, sidecars), ...createLatencyQuestion(arms, sidecars)]
}

/**
 * Creates the open question of capacity, about the first arm that something other than a sidecar bound. If that is
 * another program on the machine, the command is the same run again.
 * @param {Measured} measured
 * @param {SummaryArm[]} sidecars arms with sidecars and a CPU limit
 * @returns {NotMeasured[]} one; []: a sidecar bound each arm, or it is not known what did
 */
function createCapacityQuestion({ arms, machine, tools }, sidecars) {
  const boundElsewhere = sidecars.find(arm => arm.boundBy !== 'sidecar' && arm.boundBy !== null)
  if (!boundElsewhere) return []
  const { boundBy, cpuLimitCores, load, spoiled } = boundElsewhere
  const subject = `capacity at ${cpuLimitCores} CPU each`
  if (boundBy === 'host' && spoiled.some(({ gate }) => gate === NEIGHBOUR)) {
    const command = renderRepeatCommand(arms, `--cpu ${cpuLimitCores}`)
    const commands = [{ command, gives: 'the same, once nothing else runs on this machine' }]
    const reason = 'other programs filled the machine before a sidecar reached its limit'
    return [{ what: subject, why: reason, commands }]
  }
  const generator = findGenerator({ tools }) ?? DEFAULT_GENERATOR
  const template = REASONS[`${boundBy}`] ?? 'no sidecar reached its limit'
  const reason = template.replace('%', `${load.users} users`).replace('@', generator)
  return [{ what: subject, why: reason, commands: listCapacityCommands({ arms, machine, tools }, sidecars) }]
}

/**
 * Lists commands that would measure a capacity; those that keep this limit and link come first.
 * @param {Measured} measured
 * @param {SummaryArm[]} sidecars arms with sidecars and a CPU limit, at least one
 * @returns {Command[]} []: none would on this machine
 */
function listCapacityCommands({ arms, machine, tools }, sidecars) {
  const [{ link }] = arms
  const isLoadElsewhere = machine.loadHost !== undefined
  const largest = findLargestBindingCpuLimit(Number(machine.cpus), isLoadElsewhere)
  const smallest = Math.min(...sidecars.map(arm => arm.cpuLimitCores ?? Number.POSITIVE_INFINITY))
  const loadHostOption = isLoadElsewhere ? ` --load-host ${machine.loadHost?.host}` : ''
  const atLowerLimit = {
    command: `${renderRepeatCommand(arms, `--cpu ${largest}`)}${loadHostOption}`,
    gives: 'capacity, at a limit that sidecars reach here',
  }
  const lowerLimitCommands = largest < smallest ? [atLowerLimit] : []
  const isDefaultGenerator = findGenerator({ tools }) === DEFAULT_GENERATOR
  if (isLoadElsewhere || !isDefaultGenerator || !canUseWrk(arms[0])) return lowerLimitCommands
  const renderWrkCommand = (/** @type {string} */ wrkLink) =>
    renderCommand('bench', `--cpu ${smallest} --link ${wrkLink}${renderRepeatOptions(arms)} --generator wrk`)
  const options = { cpuLimit: smallest, cpus: Number(machine.cpus), sidecars: sidecars[0].sidecars.length }
  if (canBindOnlyBesideWrk(options)) {
    const gives = 'capacity at this limit, beside a lighter load generator'
    return [{ command: renderWrkCommand(link), gives }, ...lowerLimitCommands]
  }
  if (link !== DEFAULT_LINK || !canBindOnlyBesideWrk({ ...options, sidecars: 1 })) return lowerLimitCommands
  const ofOneSidecar = { command: renderWrkCommand('ratings'), gives: 'capacity of one sidecar at this limit' }
  return [...lowerLimitCommands, ofOneSidecar]
}

/** Says whether wrk can make the load of an arm. @param {SummaryArm} arm */
function canUseWrk({ target, load }) {
  return target === 'local' && load.connections === 'kept' && !load.hasCertificate
}

/**
 * Creates the open question of latency, with the command that measures it at RATE_SHARE of the slowest arm's rate, to one digit.
 * @param {SummaryArm[]} arms
 * @param {SummaryArm[]} sidecars arms with sidecars and a CPU limit; []: the command has no CPU limit
 * @returns {NotMeasured[]} one; []: an arm has no throughput
 */
function createLatencyQuestion(arms, sidecars) {
  const slowestRate = Math.min(...arms.map(arm => findQuantity(arm, 'throughput').median ?? 0))
  if (slowestRate <= 0) return []
  const rate = Math.max(1, Number((slowestRate * RATE_SHARE).toPrecision(1)))
  const cpuOption = sidecars.length > 0 ? ` --cpu ${sidecars[0].cpuLimitCores}` : ''
  const command = renderRepeatCommand(arms, `--rate ${rate}${cpuOption}`)
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
  const linkOption = link === DEFAULT_LINK ? '' : ` --link ${link}`
  return renderCommand('bench', `${options}${linkOption}${renderRepeatOptions(arms)}`)
}

/**
 * Renders the options for the same planes, TLS, protocol and features.
 * @param {SummaryArm[]} arms
 * @returns {string} begins with a space; empty: all are the defaults
 */
function renderRepeatOptions(arms) {
  const renderChoice = (/** @type {SummaryArm} */ { variant, ...arm }) =>
    `${renderArmName({ ...arm, variant: null })}${variant ? `=${variant}` : ''}`
  const planes = [...new Set(arms.filter(arm => !arm.repeatOf).map(renderChoice))]
  const areDefault = planes.every(plane => DEFAULT_PLANES.includes(plane))
  const planesOption = areDefault ? '' : ` --planes ${planes.join(',')}`
  const withSidecars = arms.filter(({ hasSidecars }) => hasSidecars)
  const axisOptions = REPEATED_AXES.flatMap(name => {
    const values = [...new Set(withSidecars.map(AXES[name].readValue))]
    const isDefault = values.every(value => value === AXES[name].values[0])
    return isDefault ? [] : [` --${name} ${values.join(',')}`]
  })
  return [planesOption, ...axisOptions].join('')
}
