import { existsSync } from 'node:fs'
import path from 'node:path'
import { loadPlanes } from '../dataplanes/registry.js'
import { BenchError, EXIT, SiteLostError, UsageError } from '../lib/errors.js'
import { renderSuggestion } from '../lib/nearest.js'
import { ROOT } from '../lib/paths.js'
import { AXES } from '../model/arms.js'
import { hasAcceptedPlaintext } from '../parity/beside/access.js'
import { LEFT_OUT } from '../parity/beside/corpus.js'
import { CONFIGURATIONS, findUntriedReason, listLacks, tryPlane, writeParityCertificates } from '../parity/try-plane.js'
import { joinAlikeLines, splitByLacks } from '../parity/verdict/rows.js'
import { parsePlanes } from '../prepare/options.js'
import { findPlane } from '../prepare/programs.js'
import { renderTimestamp, withSite } from '../prepare/site.js'
import { assertKnownPlanes } from '../prepare/supported.js'
import { findDeployedProfile } from '../services/specs.js'

/** @import { Lack, PlaneChoice, Site } from '../model/types.ts' */
/** @import { Planes } from '../prepare/programs.js' */
/**
 * @import { ProbedRow } from '../parity/beside/probe.js'
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
      assertKnownPlanes(planes, [choice])
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
 * exit status 1.
 * @param {{ site: Site, planes: Planes, choice: PlaneChoice, names: string[] }} options names: of configurations
 * @param {Context} context
 * @throws {BenchError} if the plane has no program, or the machine cannot run it
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
    const { tls, protocol, trafficPolicy, features } = measured
    const featureWords = features ? [AXES.features.render(features)] : []
    const title = `${only}: ${[tls, protocol, `policy ${trafficPolicy}`, ...featureWords].join(', ')}`
    const untried = findUntriedReason(measured, { plane, tool, profile })
    if (untried !== null) {
      print(`not tried  ${title}: ${untried}`)
      continue
    }
    const lines = await tryPlane({ ...rigOptions, index, measured })
      .then(rows =>
        rows.flatMap(row => {
          const lines = renderDifferences([row], listLacks(plane, measured))
          // The work of a plane as a mesh deploys it is not held equal: its differences are printed as known.
          const isExcused = deployed && !deployed.isHeld && !hasAcceptedPlaintext(row)
          return isExcused ? lines.map(line => ({ ...line, isKnown: true })) : lines
        }),
      )
      .catch(error => {
        signal.throwIfAborted()
        if (!(error instanceof BenchError) || error instanceof SiteLostError) throw error
        return [{ isKnown: false, text: error.message }]
      })
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
 * Renders a line for each difference between a plane and the contract.
 * @param {ProbedRow[]} rows of the plane's check
 * @param {Lack[]} lacks that the plane declares
 * @returns {{ isKnown: boolean, text: string }[]} isKnown: the plane declares the difference; []: there is none
 */
export function renderDifferences(rows, lacks) {
  return rows.flatMap(row => {
    const { known, unknown, mended } = splitByLacks(row, lacks)
    return [
      ...joinAlikeLines(unknown).map(text => ({ isKnown: false, text: `${row.name}: ${text}` })),
      ...mended.map(why => ({ isKnown: false, text: `${row.name}: declared, and nothing shows it: ${why}` })),
      ...known.map(why => ({ isKnown: true, text: `${row.name}: ${why}` })),
    ]
  })
}
