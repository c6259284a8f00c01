import { readdirSync } from 'node:fs'
import path from 'node:path'
import { parseBalanceExperiment } from '../kinds/balance/experiment.js'
import { BenchError, UsageError } from '../lib/errors.js'
import { renderSuggestion } from '../lib/nearest.js'
import { ROOT } from '../lib/paths.js'
import { readBounded } from '../lib/read-file.js'
import { renderCommand } from '../lib/render-command.js'
import { parseExperiment } from '../request/experiment.js'
import { parseTopology } from '../services/topology.js'

const EXPERIMENTS = 'bench/experiments'
const TOPOLOGIES = 'bench/topologies'
const YAML_FILE = /\.ya?ml$/

/** Lists the names of the kit's own experiments. @returns {string[]} */
export function listExperiments() {
  return listYamlNames(EXPERIMENTS)
}

/** Renderers of advice for verbs that are named as experiments. @type {Record<string, () => string>} */
const VERBS_THAT_MEASURE = {
  size: () => `${renderCommand('size', '--rate 500 --p99 20ms --dry-run')} prints what it would run`,
  lab: () => `${renderCommand('lab', './my-scripts')} counts within seconds, and has no plan`,
  parity: () => `${renderCommand('parity', 'pipy')} tries one data plane, and has no plan`,
}

/**
 * Reads an experiment that measures.
 * @param {string} name of an experiment of the kit, or the path of a file
 * @returns {import('../request/experiment.js').Experiment}
 * @throws {UsageError} as `readAnyExperiment`, and if it is computed
 */
export function readExperiment(name) {
  const experiment = readAnyExperiment(name)
  if (!('kind' in experiment)) return experiment
  throw new UsageError(`${name} measures nothing, and is computed at once: ${renderCommand('bench', name)}`)
}

/**
 * Reads an experiment of any kind.
 * @param {string} name of an experiment of the kit, or the path of a file, which ends in .yaml or .yml
 * @returns {import('../request/experiment.js').Experiment | ReturnType<typeof parseBalanceExperiment>} with a `kind`: it is
 *   computed
 * @throws {UsageError} if there is none, it cannot be read or does not fit the schema, or the name is that of a verb
 */
export function readAnyExperiment(name) {
  const isFile = YAML_FILE.test(name)
  const file = isFile ? name : `${EXPERIMENTS}/${name}.yaml`
  if (Object.hasOwn(VERBS_THAT_MEASURE, name))
    throw new UsageError(`"${name}" is a verb, and no experiment: ${VERBS_THAT_MEASURE[name]()}`)
  const place = isFile ? name : path.join(ROOT, file)
  const text = readNamedFile(place, { name, noun: 'experiment', folder: EXPERIMENTS })
  return /^kind:/m.test(text) ? parseBalanceExperiment(text, file) : parseExperiment(text, file)
}

/**
 * Reads the topology of a link.
 * @param {string} link its name
 * @returns {ReturnType<typeof parseTopology>}
 * @throws {UsageError} if there is none, it cannot be read, or it does not fit the schema
 */
export function readTopology(link) {
  const file = `${TOPOLOGIES}/${link}.yaml`
  return parseTopology(readNamedFile(path.join(ROOT, file), { name: link, noun: 'link', folder: TOPOLOGIES }), file)
}

/**
 * Reads a file of the kit or the user.
 * @param {string} file
 * @param {{ name: string, noun: 'experiment' | 'link', folder: string }} options name: as the user wrote it; folder: that of the
 *   kit's files of this kind
 * @returns {string}
 * @throws {UsageError} if it cannot be read, or is too large (`readBounded`); if it does not exist, with the nearest name of the folder
 */
function readNamedFile(file, { name, noun, folder }) {
  try {
    return readBounded(file)
  } catch (error) {
    if (error instanceof BenchError) throw new UsageError(error.message)
    const { code, message } = /** @type {NodeJS.ErrnoException} */ (error)
    const isYaml = YAML_FILE.test(name)
    if (isYaml && code !== 'ENOENT') throw new UsageError(`${name} cannot be read: ${message}`)
    if (noun === 'experiment' && name.includes('/') && !isYaml)
      throw new UsageError(`${name} is no experiment: a file of one ends in .yaml`)
    throw new UsageError(`unknown ${noun} "${name}"${renderSuggestion(name, listYamlNames(folder))}`)
  }
}

/**
 * Lists the names of the files in a folder of the kit that has only YAML files, without their ending.
 * @param {string} folder its path in the kit
 * @returns {string[]}
 */
const listYamlNames = folder => readdirSync(path.join(ROOT, folder)).map(file => file.replace(/\.yaml$/, ''))
