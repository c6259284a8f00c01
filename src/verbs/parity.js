import { existsSync } from 'node:fs'
import path from 'node:path'
import { loadPlanes } from '../dataplanes/registry.js'
import { BenchError, EXIT, isCausedBy, SiteLostError, UsageError } from '../lib/errors.js'
import { renderSuggestion } from '../lib/nearest.js'
import { ROOT } from '../lib/paths.js'
import { renderTimestamp } from '../lib/timestamp.js'
import { AXES } from '../model/arms.js'
import { hasAcceptedPlaintext } from '../parity/beside/access.js'
import { LEFT_OUT } from '../parity/beside/corpus.js'
import {
  CONFIGURATIONS,
  findUntriedReason,
  listDeclaredLacks,
  tryPlane,
  writeParityCertificates,
} from '../parity/try-plane.js'
import { sortDifferences } from '../parity/verdict/lacks.js'
import { joinAlikeLines } from '../parity/verdict/rows.js'
import { parsePlanes } from '../prepare/option-parsers.js'
import { findPlane } from '../prepare/programs.js'
import { withSite } from '../prepare/site.js'
import { assertPlaneChoices } from '../prepare/supported.js'
import { findDeployedProfile } from '../services/profiles.js'

/** @import { Lack, PlaneChoice, Site } from '../model/types.ts' */
/** @import { Planes } from '../prepare/programs.js' */
/**
 * @import { ProbedRow } from '../parity/beside/probe.js'
 * @import { Measured } from '../parity/rig.js'
 * @import { Context } from './program.js'
 */

const NAMES = Object.keys(CONFIGURATIONS)

/** Adds `parity`, which checks whether one plane does the work of a sidecar. @type {import('./program.js').AddVerb} */
export function addParity(verb, context) {
  verb
    .argument('<plane>', 'a data plane: name, name:profile or pipy=./folder (scripts like pipy-scripts)')
    .option('--only <configuration>', `try one configuration: ${NAMES.join(', ')}`)
    .action(async (/** @type {string} */ text, /** @type {{ only?: string }} */ { only }) => {
      const [choice, ...others] = parsePlanes(text)
      if (others.length > 0)
        throw new UsageError(`parity tries one plane at a time: ${text} names ${others.length + 1}`)
      const planes = await loadPlanes([choice.plane])
      assertPlaneChoices(planes, [choice])
      if (!planes[choice.plane].tool) throw new UsageError(`the plane ${choice.plane} has no sidecars to try`)
      if (only !== undefined && !NAMES.includes(only))
        throw new UsageError(`--only ${only}: no such configuration${renderSuggestion(only, NAMES)}`)
      const names = only === undefined ? NAMES : [only]
      await withSite({ cpu: 'none', target: 'local' }, context, site =>
        tryConfigurations({ site, planes, choice, names }, context),
      )
    })
}

/**
 * Tries a plane with each configuration and prints its shortfalls. A shortfall that the plane does not declare sets
 * exit status EXIT.failed. Configurations and logs stay in a new folder below results/, certificates in that of the ledger.
 * @param {{ site: Site, planes: Planes, choice: PlaneChoice, names: string[] }} options names: of configurations
 * @param {Context} context
 * @throws {BenchError} if the plane has no program, the machine cannot run it, or certificates cannot be written; as `findPlane` and
 *   `tryConfiguration`; the signal's reason when it aborts
 */
async function tryConfigurations({ site, planes, choice, names }, { print, say, end, signal }) {
  const { plane: name, profile } = choice
  const plane = planes[name]
  const folders = { pipyScripts: path.join(ROOT, 'pipy-scripts') }
  const { tool, scripts } = await findPlane({ planes, choice, folders, findTool: site.findTool })
  const certificates = path.join(site.ledger.folder, 'keys', 'certificates')
  await writeParityCertificates(certificates, plane)
  const folder = path.resolve('results', `${renderTimestamp()}-parity-${name}`)
  const deployed = findDeployedProfile(planes, { plane: name, profile })
  if (deployed?.isRedirected) await site.assertInterception()
  print(`${name} ${tool.version}: ${tool.path}`)
  const rigOptions = { site, plane, tool, scripts, certificates, folder, profile, signal }
  let isWhole = true
  for (const [index, only] of names.entries()) {
    const measured = CONFIGURATIONS[only]
    const title = renderConfiguration(only, measured)
    const untried = findUntriedReason(measured, { plane, tool, profile })
    if (untried !== null) {
      print(`not tried  ${title}: ${untried}`)
      continue
    }
    const lines = await tryConfiguration({ ...rigOptions, index, measured }, deployed)
    const isShort = lines.some(({ isKnown }) => !isKnown)
    isWhole &&= !isShort
    print(`${isShort ? 'short     ' : 'whole     '} ${title}`)
    for (const { isKnown, text } of lines) print(`           ${isKnown ? 'known: ' : ''}${text}`)
  }
  print(`Tried with none: ${LEFT_OUT.join('; ')}.`)
  if (existsSync(folder)) say(`configurations and logs: ${path.relative('', folder)}`)
  if (!isWhole) end(EXIT.failed)
}

/**
 * Renders a configuration: its name, TLS, protocol, policy and features.
 * @param {string} name
 * @param {Measured} configuration
 * @returns {string}
 */
function renderConfiguration(name, { tls, protocol, trafficPolicy, features }) {
  const featureWords = features ? [AXES.features.render(features)] : []
  return `${name}: ${[tls, protocol, `policy ${trafficPolicy}`, ...featureWords].join(', ')}`
}

/**
 * Tries a plane with a configuration. A BenchError, such as that the plane does not start, counts as a difference.
 * @param {Parameters<typeof tryPlane>[0] & { signal: AbortSignal }} options
 * @param {ReturnType<typeof findDeployedProfile>} deployed the profile of a mesh that the plane has; undefined: none
 * @returns {Promise<DifferenceLine[]>} []: it does the whole work
 * @throws {SiteLostError} if the site is lost; the signal's reason when it aborts; any error that is no BenchError
 */
async function tryConfiguration(options, deployed) {
  const { plane, measured, signal } = options
  try {
    const rows = await tryPlane(options)
    return rows.flatMap(row => {
      const lines = renderParityDifferences([row], listDeclaredLacks(plane, measured))
      // The work of a plane as a mesh deploys it is not held equal: its differences are printed as known.
      const isExcused = deployed && !deployed.isHeld && !hasAcceptedPlaintext(row)
      return isExcused ? lines.map(line => ({ ...line, isKnown: true })) : lines
    })
  } catch (error) {
    signal.throwIfAborted()
    if (!(error instanceof BenchError) || isCausedBy(error, SiteLostError)) throw error
    return [{ isKnown: false, text: error.message }]
  }
}

/** @typedef {{ isKnown: boolean, text: string }} DifferenceLine isKnown: the plane declares the difference */

/**
 * Renders a line for each difference between the work of a plane and that of a sidecar, and for each declared lack that no row shows.
 * @param {ProbedRow[]} rows of the plane's check
 * @param {Lack[]} lacks that the plane declares
 * @returns {DifferenceLine[]} []: there are none
 */
export function renderParityDifferences(rows, lacks) {
  return rows.flatMap(row => {
    const { declared, undeclared, stale } = sortDifferences(row, lacks)
    return [
      ...joinAlikeLines(undeclared).map(text => ({ isKnown: false, text: `${row.name}: ${text}` })),
      ...stale.map(why => ({ isKnown: false, text: `${row.name}: declared, and nothing shows it: ${why}` })),
      ...declared.map(why => ({ isKnown: true, text: `${row.name}: ${why}` })),
    ]
  })
}
