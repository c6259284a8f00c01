import { AXES, isRedirected } from '../../model/arms.js'
import { LEAN } from '../../model/features.js'
import { renderRequest } from '../../model/requests.js'
import { listArms } from '../../model/results.js'
import { DEFAULT_GENERATOR, findGenerator } from '../../model/tools.js'

/**
 * The conditions of a run in one line: link, sidecars, TLS, load, CPUs. Pure.
 * @import { Summary, SummaryArm } from '../../model/types.ts'
 */

const MODEL_LENGTH_MOST = 24

/**
 * Renders the experiment, links, requests and machine; neighbour, generator and target only if they are not the
 * default.
 * @param {Summary} summary
 * @returns {string[]} the parts of a line
 */
export function renderConditions({ run, results, machine, tools }) {
  const arms = listArms({ results })
  const parts = [
    run.experiment,
    ...(arms.length > 0 ? [`${renderLinkNames(arms)}: ${renderPath(arms)}`, renderRequests(arms)] : []),
    renderNeighbour(arms),
  ]
  const target = arms[0]?.target ?? 'local'
  const generator = findGenerator({ tools }) ?? DEFAULT_GENERATOR
  if (arms.length > 0 && generator !== DEFAULT_GENERATOR) parts.push(`load by ${generator}`)
  if (machine.loadHost) parts.push(`load from ${machine.loadHost.host}`)
  else if (!['local', 'fake'].includes(target)) parts.push(`on ${target}${machine.node ? ` (${machine.node})` : ''}`)
  // A narrow screen cuts the end of the line: the machine matters least.
  return [...parts, renderMachine(machine)].filter(Boolean)
}

/** Renders the values of the neighbour. @param {SummaryArm[]} arms @returns {string} empty: no arm has one */
function renderNeighbour(arms) {
  const { of: findValue, render } = AXES.neighbourCores
  return [...new Set(arms.map(findValue))].some(value => value !== null)
    ? [...new Set(arms.map(arm => render(findValue(arm))))].join(' or ')
    : ''
}

/**
 * Renders the names of the links.
 * @param {SummaryArm[]} arms
 * @returns {string} joined by `and`
 */
const renderLinkNames = arms => [...new Set(arms.map(({ link }) => link))].join(' and ')

/**
 * Renders the sidecars on the way of a request, their TLS, whether connections are redirected in some arms, and the
 * protocol and features if all arms share one that is not the default.
 * @param {SummaryArm[]} arms
 * @returns {string} `no sidecars`: no arm has any
 */
export function renderPath(arms) {
  const withSidecars = arms.filter(arm => arm.hasSidecars)
  if (withSidecars.length === 0) return 'no sidecars'
  const counts = withSidecars
    .filter(({ sidecars }) => !sidecars.some(({ pods }) => pods))
    .map(({ sidecars, conditions }) => conditions.sidecars ?? sidecars.length)
    .filter(number => number > 0)
  const [least, most] = [Math.min(...counts), Math.max(...counts)]
  const sidecars =
    counts.length === 0 ? [] : [`${least === most ? most : `${least} to ${most}`} sidecar${most === 1 ? '' : 's'}`]
  const protocols = [...new Set(withSidecars.map(AXES.protocol.of))].filter(name => name !== 'http/1.1')
  const features = [...new Set(withSidecars.map(arm => AXES.features.of(arm) ?? LEAN))]
  const parts = [
    ...sidecars,
    ...(withSidecars.some(({ sidecars }) => sidecars.some(({ pods }) => pods)) ? ['one proxy a node'] : []),
    ...[...new Set(withSidecars.map(renderTlsMode))],
    ...(protocols.length === 1 ? [AXES.protocol.render(protocols[0])] : []),
    ...(withSidecars.some(({ conditions }) => isRedirected(conditions)) ? ['redirected'] : []),
    ...(features.length === 1 && features[0] !== LEAN ? [AXES.features.render(features[0])] : []),
  ]
  return parts.join(', ')
}

/**
 * Renders the TLS of an arm. A single sidecar speaks mTLS only with a client that has a certificate.
 * @param {SummaryArm} arm
 * @returns {'mTLS' | 'plaintext'}
 */
export function renderTlsMode({ conditions: { tls }, load, sidecars }) {
  if (tls === 'plaintext') return 'plaintext'
  const isAlone = sidecars.length === 1 && sidecars[0].pods === undefined
  return isAlone && !load.hasCertificate ? 'plaintext' : 'mTLS'
}

/**
 * Renders the requests, and their rate or users if all arms share one.
 * @param {SummaryArm[]} arms at least one
 * @returns {string} `no load`: the arms are idle
 */
export function renderRequests(arms) {
  const [{ load }] = arms
  if (load.kind === 'idle') return 'no load'
  const findOnlyValue = (/** @type {(number | undefined)[]} */ values) =>
    new Set(values).size === 1 ? values[0] : undefined
  const requests = new Set(arms.map(arm => renderRequest(arm.load)))
  const rate = findOnlyValue(arms.map(arm => arm.load.ratePerSecond))
  const users = findOnlyValue(arms.map(arm => arm.load.users))
  const parts = [
    requests.size === 1
      ? [...requests][0]
      : arms.some(arm => arm.load.requests || arm.load.ownRequest)
        ? 'several requests'
        : 'POST, echoed',
    ...(rate !== undefined ? [`${rate} req/s`] : users !== undefined && load.kind !== 'open' ? [`${users} users`] : []),
    ...(arms.every(arm => arm.load.connections === 'new') ? ['new connections'] : []),
  ]
  return parts.join(', ')
}

/**
 * Renders the CPUs of the machine: `8 CPUs Intel Xeon Platinum`.
 * @param {Summary['machine']} machine
 * @returns {string} empty: their number was not recorded
 */
function renderMachine({ cpus, cpuModel }) {
  if (cpus === undefined) return ''
  return `${cpus} CPU${Number(cpus) === 1 ? '' : 's'}${cpuModel ? ` ${shortenModel(`${cpuModel}`)}` : ''}`
}

/**
 * Shortens the model of a CPU at a word: `Intel(R) Xeon(R) Platinum 8370C CPU @ 2.80GHz` to `Intel Xeon Platinum`.
 * @param {string} model
 * @returns {string} at most MODEL_LENGTH_MOST characters
 */
export function shortenModel(model) {
  const words = model
    .replace(/\((R|TM|C)\)/gi, '')
    .replace(/ CPU| Processor| \d+-Core|@.*$/gi, '')
    .replace(/\s+/g, ' ')
    .trim()
  return words.length <= MODEL_LENGTH_MOST ? words : words.slice(0, MODEL_LENGTH_MOST).replace(/ \S*$/, '')
}
