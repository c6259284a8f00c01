import { readFileSync, readSync, statSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { callSafely } from '../lib/call-safely.js'
import { hashFolder, hashText } from '../lib/hash.js'
import { hashKit } from '../lib/kit.js'
import { ROOT } from '../lib/paths.js'
import { withOpenFile } from '../lib/with-open-file.js'
import { isRedirected } from '../model/arms.js'
import { hasChunks } from '../model/requests.js'
import { findArmPipeline, findSidecarTool } from '../model/tools.js'
import { findScriptFolder } from '../run/scripts.js'
import { createStableSpecs, pickMeasuredConditions } from './rig.js'
import { pickConfiguration, pickWorkerSize } from './verdict/checks.js'

/**
 * The dependencies of an equal-work check: programs, scripts and rendered configurations by their hashes, the kit's own code,
 * and the machine. A check that passed is not made again while none of it changes.
 * @import { Arm, Tool } from '../model/types.ts'
 * @import { Testbed } from '../run/kind.js'
 */

const ELF = Buffer.from('\x7fELF')
// The packages that the kit imports are as much a part of the check as its own code.
const PACKAGES = ['package.json', 'package-lock.json']

/**
 * Creates a lister of the dependencies of a run's checks. It hashes each folder once.
 * @param {Testbed} testbed
 * @returns listForStart, listForCorpus: list the dependencies of a check of that kind
 * @throws {Error} if a file of the kit cannot be read
 */
export function createDependencyLister(testbed) {
  const { programs, layout, settings, folders, site } = testbed
  const common = {
    kit: hashKit(),
    packages: PACKAGES.map(name => hashPath(path.join(ROOT, name))),
    machine: readMachineFacts(),
    cpus: site.cpus,
  }
  /** @type {Map<string, string>} */
  const hashes = new Map()
  const hashFolderOnce = (/** @type {string} */ folder) => {
    if (!hashes.has(folder)) hashes.set(folder, hashFolder(folder))
    return hashes.get(folder)
  }
  const pickProgram = (/** @type {Tool} */ { name, version, sha256 }) => ({ name, version, sha256 })
  const findArmProgram = (/** @type {Arm} */ { plane, variant }) => {
    const { tool } = programs.planes[plane]
    return tool && findSidecarTool(programs.tools, { tool, variant })
  }
  const areDependenciesKnown = (/** @type {Arm} */ arm) => {
    const tool = findArmProgram(arm)
    // Rules that redirect connections are made by programs of the system, which have no hash here.
    if (isRedirected(arm.conditions) || findArmPipeline(programs, arm)) return false
    return tool === null || isElfFile(tool)
  }
  const listForArm = (/** @type {Arm} */ arm) => {
    const plane = programs.planes[arm.plane]
    const tool = findArmProgram(arm)
    return {
      ...common,
      ...pickConfiguration(arm),
      conditions: arm.conditions,
      trafficPolicy: settings.trafficPolicy,
      tool: tool && pickProgram(tool),
      systemFiles: (plane.systemFiles ?? []).map(hashPath),
      scripts: plane.hasVariants ? hashFolderOnce(findScriptFolder(testbed, arm)) : null,
    }
  }
  return {
    /**
     * Lists the dependencies of the start of an arm and its workers.
     * @param {Arm} arm
     * @returns {object | undefined} undefined: not all are known, so the check is not cached
     * @throws {Error} if a script, or a file of the system that the plane names, cannot be read
     */
    listForStart(arm) {
      if (!areDependenciesKnown(arm) || !isElfFile(programs.appRuntime)) return undefined
      return {
        ...listForArm(arm),
        check: 'start',
        size: pickWorkerSize(arm),
        hasCertificate: arm.load.hasCertificate,
        // Scripts of the user are checked with all requests of their load, other planes with those whose answers have chunks.
        ...((arm.variant !== null || hasChunks(arm.load)) && {
          payloadBytes: arm.load.payloadBytes,
          requests: arm.load.requests,
        }),
        topology: layout.topologies[arm.link],
        applications: pickProgram(programs.appRuntime),
        echo: hashFolderOnce(folders.echo),
      }
    },
    /**
     * Lists the dependencies of the corpus in the configuration of an arm.
     * @param {Arm} arm with sidecars
     * @returns {object | undefined} undefined: not all are known, so the check is not cached
     * @throws {Error} as `listForStart`; BenchError for a feature that this kit does not know
     */
    listForCorpus(arm) {
      if (!areDependenciesKnown(arm)) return undefined
      const plane = programs.planes[arm.plane]
      const specs = createStableSpecs({
        plane,
        tool: /** @type {Tool} */ (findArmProgram(arm)),
        scripts: findScriptFolder(testbed, arm),
        measured: pickMeasuredConditions(arm, { plane, trafficPolicy: settings.trafficPolicy }),
        profile: arm.profile,
        interception: arm.conditions.interception,
      })
      const rendered = specs.map(spec => ({ argv: spec.argv, env: spec.env, files: spec.files, listens: spec.listens }))
      return { ...listForArm(arm), check: 'corpus', rendered: hashText(JSON.stringify(rendered)) }
    },
  }
}

/**
 * Reads facts of this machine that may change what a program does: several machines may share the disk of a cache.
 * @returns {Record<string, unknown>} a fact that cannot be read is null; without a machine id, `id` is the host name
 */
function readMachineFacts() {
  return {
    id: readOptionalFile('/etc/machine-id') ?? os.hostname(),
    system: readOptionalFile('/etc/os-release'),
    kernel: [os.type(), os.release(), os.version()],
    architecture: os.arch(),
    // ldconfig writes this file anew whenever a library is installed.
    libraries: callSafely(() => statSync('/etc/ld.so.cache').mtimeMs, null),
    versions: process.versions,
  }
}

/**
 * Reads a text file.
 * @param {string} file
 * @returns {string | null} null: it cannot be read
 */
function readOptionalFile(file) {
  return callSafely(() => readFileSync(file, 'utf8'), null)
}

/**
 * Says whether a program is an ELF file. The hash of a script would not cover the programs that it starts.
 * @param {Pick<Tool, 'path'>} tool
 * @returns {boolean} false also: it cannot be read
 */
function isElfFile({ path: file }) {
  return callSafely(() => {
    const start = Buffer.alloc(ELF.length)
    withOpenFile(file, 'r', descriptor => readSync(descriptor, start, 0, ELF.length, 0))
    return start.equals(ELF)
  }, false)
}

/**
 * Hashes a file or a folder.
 * @param {string} location
 * @returns {string | null} SHA-256; null: there is none
 * @throws {Error} if it cannot be read
 */
function hashPath(location) {
  const stat = statSync(location, { throwIfNoEntry: false })
  if (stat === undefined) return null
  return stat.isDirectory() ? hashFolder(location) : hashText(readFileSync(location))
}
