import { existsSync } from 'node:fs'
import path from 'node:path'
import { dataPlanes } from '../dataplanes/registry.js'
import { BenchError, SiteLostError, UsageError } from '../lib/errors.js'
import { EXIT } from '../lib/exit-status.js'
import { ROOT } from '../lib/paths.js'
import { AXES } from '../model/axes.js'
import { LEFT_OUT } from '../parity/beside/corpus.js'
import { CONFIGURATIONS, findUntried, tryPlane, writeParityCertificates } from '../parity/try-plane.js'
import { isWrong } from '../parity/verdict/rows.js'
import { parsePlanes } from '../prepare/options.js'
import { openSite, stampNow } from '../prepare/preparation.js'
import { assertKnown } from '../prepare/prepare.js'

/**
 * `parity`: whether one plane does the work of a sidecar, before anything is measured.
 * @import { Command } from 'commander'
 * @import { Row } from '../parity/beside/probe.js'
 * @import { Context } from './program.js'
 */

/**
 * @param {Command} verb
 * @param {Context} context
 */
export function addParity(verb, context) {
  const { print, say, end, signal } = context
  verb.argument('<plane>', 'a data plane: name, name:profile or name=./scripts').action(async text => {
    const [choice, ...others] = parsePlanes(text)
    if (others.length > 0) throw new UsageError(`parity tries one plane at a time: ${text} names ${others.length + 1}`)
    assertKnown(choice)
    const plane = dataPlanes.find(({ name }) => name === choice.plane)
    if (!plane?.tool) throw new UsageError(`the plane ${choice.plane} has no sidecars to try`)
    const site = await openSite({ cpu: 'none', target: 'local' }, context)
    if (site === null) return
    try {
      const tool = await site.findTool(plane.tool)
      if ('missing' in tool) throw new BenchError(tool.missing, { exitStatus: EXIT.planeMissing })
      const certificates = path.join(site.ledger.folder, 'keys', 'certificates')
      await writeParityCertificates(certificates)
      const folder = path.resolve('results', `${stampNow()}-parity-${plane.name}`)
      const scripts = choice.variant ?? path.join(ROOT, 'pipy-scripts')
      print(`${plane.name} ${tool.version}: ${tool.path}`)
      let isWhole = true
      for (const [index, measured] of CONFIGURATIONS.entries()) {
        const { tls, protocol, trafficPolicy, features } = measured
        const title = [
          tls,
          protocol,
          `policy ${trafficPolicy}`,
          ...(features ? [AXES.features.show(features)] : []),
        ].join(', ')
        const untried = findUntried(measured, { plane, tool, profile: choice.profile })
        if (untried !== null) {
          print(`not tried  ${title}: ${untried}`)
          continue
        }
        const { profile } = choice
        const lines = await tryPlane({
          site,
          index,
          plane,
          tool,
          scripts,
          certificates,
          folder,
          measured,
          profile,
          signal,
        })
          .then(rows => listShort(rows, plane.findLacks?.(measured) ?? {}))
          .catch(error => {
            signal.throwIfAborted()
            if (!(error instanceof BenchError) || error instanceof SiteLostError) throw error
            return [{ isKnown: false, text: error.message }]
          })
        const unknown = lines.filter(({ isKnown }) => !isKnown)
        if (unknown.length > 0) isWhole = false
        print(`${unknown.length > 0 ? 'short     ' : 'whole     '} ${title}`)
        for (const { isKnown, text } of lines) print(`           ${isKnown ? 'known: ' : ''}${text}`)
      }
      print(`Tried with none: ${LEFT_OUT.join('; ')}.`)
      if (existsSync(folder)) say(`configurations and logs: ${path.relative('', folder)}`)
      if (!isWhole) end(EXIT.failed)
    } finally {
      await site.target.close()
    }
  })
}

/**
 * @param {Row[]} rows
 * @param {Record<string, string>} lacks
 * @returns {{ isKnown: boolean, text: string }[]} a line for each difference; known: the plane declares it
 */
export function listShort(rows, lacks) {
  return rows
    .filter(row => row.differences.length > 0 || isWrong(row))
    .flatMap(({ name, found, expected, differences }) => {
      const isKnown = name in lacks
      const own = differences.length > 0 ? differences : [`${found}, expected ${expected}`]
      return (isKnown ? [lacks[name]] : own).map(text => ({ isKnown, text: `${name}: ${text}` }))
    })
}
