import { Option } from 'commander'
import { pipyTool } from '../dataplanes/pipy/index.js'
import { loadPlanes } from '../dataplanes/registry.js'
import { EXIT } from '../lib/errors.js'
import { loadGenerator, loadGenerators } from '../loads/registry.js'
import { checkMachine } from '../prepare/local-doctor.js'
import { withOptions } from '../prepare/options.js'
import { assertImageTools, loadToolSpecs } from '../prepare/programs.js'
import { readExperiment } from '../prepare/read-experiment.js'
import { SITE_OPTIONS } from '../request/constraints/site.js'
import { assertCombination } from '../request/constraints.js'
import { connect } from '../targets/kubernetes/api.js'
import { checkCluster } from '../targets/kubernetes/doctor.js'
import { checkLoadHost } from '../targets/load-host/doctor.js'
import { findTool } from '../tools/find.js'

/** Adds `doctor`, which lists what a run needs, and what is missing. @type {import('./program.js').AddVerb} */
export async function addDoctor(verb, { print, say, end, signal }) {
  const dataPlanes = Object.values(await loadPlanes())
  // Only control planes with a program of their own need one to be found.
  const withPrograms = dataPlanes
    .flatMap(({ controls = [] }) => controls)
    .flatMap(({ name, tool }) => (tool ? [{ name, tool }] : []))
  const help = 'look for the program of this control plane, too, or its image; on this machine it is built'
  withOptions(verb, 'loadHost', 'address', 'target', 'context', 'node', 'loadNode', 'image')
    .addOption(new Option('--control <name>', help).choices(withPrograms.map(({ name }) => name)))
    .action(async ({ target, context = null, node = null, loadNode = null, image, loadHost, address, control }) => {
      assertCombination(SITE_OPTIONS, verb.opts())
      await assertImageTools(image)
      const findHere = (/** @type {import('../model/types.ts').ToolSpec} */ spec) => findTool(spec, { say, signal })
      const byDefault = readExperiment('cap').axes.plane
      const needed = dataPlanes.flatMap(({ name, tool }) => (tool && byDefault.includes(name) ? tool : []))
      // No default run needs these programs: each is listed with the first option that names it.
      const ofPlanes = dataPlanes.flatMap(({ name, tool }) =>
        tool && !byDefault.includes(name) ? [{ spec: tool, option: `--planes ${name}` }] : [],
      )
      const ofProfiles = dataPlanes.flatMap(({ name, deployed = {} }) =>
        Object.entries(deployed).flatMap(([profile, { runtime }]) =>
          runtime ? [{ spec: runtime, option: `--planes ${name}:${profile}` }] : [],
        ),
      )
      const controlTool = withPrograms.find(({ name }) => name === control)?.tool
      // Only the program of --control is built here; the first run that needs another one builds that.
      const ofControls = withPrograms
        .filter(({ tool }, i) => withPrograms.findIndex(other => other.tool === tool) === i)
        .map(({ name, tool }) => ({ spec: tool, option: `--control ${name}`, isLater: tool !== controlTool }))
      // With --load-host, the other machine needs the generator.
      const generator = loadHost ? [] : [(await loadGenerator()).tool]
      const findings =
        target === 'kubernetes'
          ? await checkCluster({
              api: await connect({ context }),
              node,
              loadNode,
              images: image,
              specs: [...(await loadToolSpecs()), ...(controlTool ? [controlTool] : [])],
            })
          : await checkMachine({
              specs: [pipyTool, ...needed, ...generator],
              others: [...ofPlanes, ...ofProfiles, ...ofControls],
              findTool: findHere,
              findBuilt: spec => findTool(spec, { say, signal, fetch: null }),
            })
      const elsewhere = {
        host: loadHost,
        requestedAddress: address ?? null,
        loads: Object.values(await loadGenerators()),
        findHere,
        say,
        signal,
      }
      if (loadHost) findings.push(...(await checkLoadHost(elsewhere)))
      signal.throwIfAborted()
      const isReady = findings.every(({ level }) => level !== 'missing')
      const lines = findings.flatMap(({ level, text, more = [] }) => [
        `${level.padEnd(8)} ${text}`,
        ...more.map(line => `${' '.repeat(9)}${line}`),
      ])
      const verdict = isReady ? 'Everything a default run needs is here.' : 'A default run needs what is missing above.'
      print([...lines, verdict].join('\n'))
      if (!isReady) end(EXIT.failed)
    })
}
