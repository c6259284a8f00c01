import { renderRange } from '../../lib/units.js'
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
 * Renders the experiment, links, requests and machine; neighbour, generator, load host and target only if they are not the
 * default. Beside a load host the target is left out.
 * @param {Summary} summary
 * @returns {string[]} the parts of a line; without links, requests and generator if nothing was measured, and without the machine if
 *   its CPUs were not recorded
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
  return [...parts, renderCpus(machine)].filter(Boolean)
}

/**
 * Renders the CPUs of the neighbours of arms, joined by `or` if arms differ.
 * @param {SummaryArm[]} arms
 * @returns {string} empty if no arm has a neighbour
 */
function renderNeighbour(arms) {
  const { readValue, render } = AXES.neighbourCores
  const values = arms.map(readValue)
  if (values.every(value => value === null)) return ''
  return [...new Set(values.map(render))].join(' or ')
}

/** Renders the names of the links, joined by `and`. @param {SummaryArm[]} arms */
const renderLinkNames = arms => [...new Set(arms.map(({ link }) => link))].join(' and ')

/**
 * Renders the sidecars on the way of a request, their TLS, that connections are redirected (in some arms at least), the protocol
 * if all arms have the same and it is not HTTP/1.1, and the features if all arms share some beyond LEAN.
 * @param {SummaryArm[]} arms
 * @returns {string} `no sidecars` if no arm has any
 */
export function renderPath(arms) {
  const withSidecars = arms.filter(arm => arm.hasSidecars)
  if (withSidecars.length === 0) return 'no sidecars'
  const protocols = [...new Set(withSidecars.map(AXES.protocol.readValue))]
  const features = [...new Set(withSidecars.map(arm => AXES.features.readValue(arm) ?? LEAN))]
  const parts = [
    renderSidecarCount(withSidecars.filter(arm => !hasProxyOfNode(arm))),
    ...(withSidecars.some(hasProxyOfNode) ? ['one proxy a node'] : []),
    ...[...new Set(withSidecars.map(renderTlsMode))],
    ...(protocols.length === 1 && protocols[0] !== 'http/1.1' ? [AXES.protocol.render(protocols[0])] : []),
    ...(withSidecars.some(({ conditions }) => isRedirected(conditions)) ? ['redirected'] : []),
    ...(features.length === 1 && features[0] !== LEAN ? [AXES.features.render(features[0])] : []),
  ]
  return parts.filter(Boolean).join(', ')
}

/** Says whether an arm has a proxy that serves all pods of a node. @param {SummaryArm} arm */
const hasProxyOfNode = ({ sidecars }) => sidecars.some(({ pods }) => pods)

/**
 * Renders how many sidecars arms have, such as `2 sidecars` or `1 to 3 sidecars`.
 * @param {SummaryArm[]} arms
 * @returns {string} empty if no arm has any
 */
function renderSidecarCount(arms) {
  const counts = arms
    .map(({ sidecars, conditions }) => conditions.sidecars ?? sidecars.length)
    .filter(count => count > 0)
  if (counts.length === 0) return ''
  const [least, most] = [Math.min(...counts), Math.max(...counts)]
  return `${renderRange(least, most)} sidecar${most === 1 ? '' : 's'}`
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
 * @returns {string} `no load` if the first arm is idle
 */
export function renderRequests(arms) {
  if (arms[0].load.kind === 'idle') return 'no load'
  const parts = [
    renderRequestKind(arms),
    renderRateOrUsers(arms),
    ...(arms.every(({ load }) => load.connections === 'new') ? ['new connections'] : []),
  ]
  return parts.filter(Boolean).join(', ')
}

/**
 * Renders the request that all arms share; else `several requests`, or `POST, echoed` if only the size of the payload differs.
 * @param {SummaryArm[]} arms
 * @returns {string}
 */
function renderRequestKind(arms) {
  const requests = [...new Set(arms.map(({ load }) => renderRequest(load)))]
  if (requests.length === 1) return requests[0]
  return arms.some(({ load }) => load.requests || load.ownRequest) ? 'several requests' : 'POST, echoed'
}

/**
 * Renders the rate that all arms share, else the users, unless they only bound an open loop.
 * @param {SummaryArm[]} arms at least one
 * @returns {string} such as `200 req/s`; empty if arms differ in both, or in the rate of an open loop
 */
function renderRateOrUsers(arms) {
  const [{ load }] = arms
  const rates = new Set(arms.map(arm => arm.load.ratePerSecond))
  if (rates.size === 1 && load.ratePerSecond !== undefined) return `${load.ratePerSecond} req/s`
  const users = new Set(arms.map(arm => arm.load.users))
  return users.size === 1 && load.kind !== 'open' ? `${load.users} users` : ''
}

/**
 * Renders the CPUs of the machine: `8 CPUs Intel Xeon Platinum`.
 * @param {Summary['machine']} machine
 * @returns {string} empty if their number was not recorded
 */
function renderCpus({ cpus, cpuModel }) {
  if (cpus === undefined) return ''
  return `${cpus} CPU${Number(cpus) === 1 ? '' : 's'}${cpuModel ? ` ${shortenModel(`${cpuModel}`)}` : ''}`
}

/**
 * Shortens the model of a CPU at a word: `Intel(R) Xeon(R) Platinum 8370C CPU @ 2.80GHz` to `Intel Xeon Platinum`.
 * @param {string} model
 * @returns {string} at most MODEL_LENGTH_MOST characters
 */
export function shortenModel(model) {
  const shortModel = model
    .replace(/\((R|TM|C)\)/gi, '')
    .replace(/ CPU| Processor| \d+-Core|@.*$/gi, '')
    .replace(/\s+/g, ' ')
    .trim()
  return shortModel.length <= MODEL_LENGTH_MOST
    ? shortModel
    : shortModel.slice(0, MODEL_LENGTH_MOST).replace(/ \S*$/, '')
}
