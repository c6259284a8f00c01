import { existsSync } from 'node:fs'
import path from 'node:path'
import { BenchError, SiteLostError, UsageError } from '../lib/errors.js'
import { EXIT } from '../lib/exit-status.js'
import { ROOT } from '../lib/paths.js'
import { AXES } from '../model/axes.js'
import { LEFT_OUT } from '../parity/beside/corpus.js'
import { CONFIGURATIONS, findUntried, tryPlane, writeParityCertificates } from '../parity/try-plane.js'
import { isWrong } from '../parity/verdict/rows.js'
import { parsePlanes } from '../prepare/options.js'
import { planes } from '../prepare/programs.js'
import { stampNow, withSite } from '../prepare/site.js'
import { assertKnown } from '../prepare/supported.js'
import { findDeployed } from '../services/deployed.js'
import { findScripts } from '../tools/find-scripts.js'

/** @import { PlaneChoice, Site, ToolSpec } from '../model/types.ts' @import { Context } from './program.js' */

/** `parity`: whether one plane does the work of a sidecar. @type {import('./program.js').AddVerb} */
export function addParity(verb, context) {
  const help = 'a data plane: name, name:profile or name=./scripts'
  verb.argument('<plane>', help).action(async (/** @type {string} */ text) => {
    const [choice, ...others] = parsePlanes(text)
    if (others.length > 0) throw new UsageError(`parity tries one plane at a time: ${text} names ${others.length + 1}`)
    assertKnown(choice)
    const { tool } = planes[choice.plane]
    if (!tool) throw new UsageError(`the plane ${choice.plane} has no sidecars to try`)
    await withSite({ cpu: 'none', target: 'local' }, context, site => tryAll({ site, choice, spec: tool }, context))
  })
}

/** @param {{ site: Site, choice: PlaneChoice, spec: ToolSpec }} asked @param {Context} context */
async function tryAll({ site, choice: { plane: name, profile, variant }, spec }, { print, say, end, signal }) {
  const plane = planes[name]
  const tool = await site.findTool(spec)
  if ('missing' in tool) throw new BenchError(tool.missing, { exitStatus: EXIT.planeMissing })
  const certificates = path.join(site.ledger.folder, 'keys', 'certificates')
  await writeParityCertificates(certificates)
  const folder = path.resolve('results', `${stampNow()}-parity-${name}`)
  const deployed = findDeployed(planes, { plane: name, profile })
  const found = deployed?.scripts ? findScripts(deployed.scripts) : null
  if (found && 'missing' in found) throw new BenchError(found.missing, { exitStatus: EXIT.planeMissing })
  if (deployed?.isRedirected) await site.assertInterception()
  const scripts = found?.folder ?? variant ?? path.join(ROOT, 'pipy-scripts')
  print(`${name} ${tool.version}: ${tool.path}`)
  const given = { site, plane, tool, scripts, certificates, folder, profile, signal }
  let isWhole = true
  for (const [index, measured] of CONFIGURATIONS.entries()) {
    const { tls, protocol, trafficPolicy, features } = measured
    const shown = features ? [AXES.features.show(features)] : []
    const title = [tls, protocol, `policy ${trafficPolicy}`, ...shown].join(', ')
    const untried = findUntried(measured, { plane, tool, profile })
    if (untried !== null) {
      print(`not tried  ${title}: ${untried}`)
      continue
    }
    const lines = await tryPlane({ ...given, index, measured })
      .then(rows => listShort(rows, plane.findLacks?.(measured) ?? {}))
      // As a mesh deploys it, its work is its own.
      .then(lines => (deployed ? lines.map(line => ({ ...line, isKnown: true })) : lines))
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

/** Lists differences. @param {import('../parity/beside/probe.js').Row[]} rows @param {Record<string, string>} lacks */
export function listShort(rows, lacks) {
  return rows
    .filter(row => row.differences.length > 0 || isWrong(row))
    .flatMap(({ name, found, expected, differences }) => {
      const isKnown = name in lacks
      const own = differences.length > 0 ? differences : [`${found}, expected ${expected}`]
      return (isKnown ? [lacks[name]] : own).map(text => ({ isKnown, text: `${name}: ${text}` }))
    })
}
