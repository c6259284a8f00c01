import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { BenchError } from '../../lib/errors.js'
import { ROOT } from '../../lib/paths.js'
import { chooseAddress } from './address.js'
import { openLoadHost } from './host.js'
import { rehearse } from './rehearse.js'

/**
 * @import { LoadGenerator, Tool, ToolSpec } from '../../model/types.ts'
 * @import { Finding } from '../kubernetes/doctor.js'
 */

/**
 * What a run with its load on another machine would be refused for.
 * @param {{ host: string, asked: string | null, loads: LoadGenerator[], say: (line: string) => void, signal: AbortSignal,
 *   findHere: (spec: ToolSpec) => Promise<Tool | { missing: string }> }} options
 * @returns {Promise<Finding[]>}
 */
export async function examineLoadHost({ host, asked, loads, findHere, say, signal }) {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'sidecar-bench-doctor-'))
  /** @type {Finding[]} */
  const findings = []
  const ok = (/** @type {string} */ text) => findings.push({ level: 'ok', text })
  const missing = (/** @type {unknown} */ error) => {
    if (!(error instanceof BenchError)) throw error
    signal.throwIfAborted()
    findings.push({ level: 'missing', text: error.message })
  }
  try {
    const loadHost = await openLoadHost({ host, folder, environment: {}, signal, findHere, say })
    try {
      const { machine, clock } = loadHost
      ok(`${host}: ${machine.cpus} CPUs (${machine.cpuModel}), ${machine.kernel}`)
      ok(
        `its clock is ${Math.abs(clock.aheadMs).toFixed(1)} ms ${clock.aheadMs < 0 ? 'behind' : 'ahead'} (±${clock.uncertaintyMs.toFixed(1)}), which is counted out; a round trip takes ${clock.roundTripMs.toFixed(1)} ms`,
      )
      const address = chooseAddress({ asked, seenAs: loadHost.seenAs, host })
      for (const [i, load] of loads.entries()) {
        try {
          const tool = await loadHost.findTool(load.tool)
          if ('missing' in tool) {
            findings.push({ level: i === 0 ? 'missing' : 'warning', text: tool.missing })
            continue
          }
          ok(`${tool.name} ${tool.version}: ${tool.path} (${tool.source})`)
          await rehearse({ loadHost, load, tool, scripts: path.join(ROOT, load.scripts), address, folder, signal })
          ok(`${load.name} on ${host} reaches ${address}`)
        } catch (error) {
          missing(error)
        }
      }
    } finally {
      await loadHost.close()
    }
  } catch (error) {
    missing(error)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  return findings
}
