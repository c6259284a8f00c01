import { kindsOf, PLANS } from '../kinds/plans.js'
import { UsageError } from '../lib/errors.js'
import { DEFAULT_GENERATOR } from '../model/tools.js'

/**
 * Refuses options that would change nothing; those of planes, caps and axes are refused by the plan.
 * @import { Experiment } from '../plan/experiment.js' @import { RunOptions, SiteOptions } from './options.js'
 */

const REQUESTS = { isMet: (/** @type {Experiment} */ { load }) => load.kind !== 'idle', lacks: 'has no load' }

const INTERLEAVED = {
  isMet: (/** @type {Experiment} */ experiment, /** @type {Pick<RunOptions, 'measure'>} */ { measure }) =>
    (measure ?? kindsOf(experiment)).includes('cost'),
  lacks: 'measures nothing side by side',
}

/**
 * Conditions of an experiment under which an option changes something.
 * @type {Partial<Record<keyof RunOptions | 'users' | 'pairs' | 'services' | 'rate' | 'payload' | 'method' | 'request' |
 *   'requestHeaders' | 'response' | 'serviceTime' | 'idleConnections' | 'burst' |
 *   'placement',
 *   { isMet: (experiment: Experiment, options: Pick<RunOptions, 'measure'>) => boolean, lacks: string }>>}
 */
const NEEDS = {
  users: REQUESTS,
  rate: REQUESTS,
  payload: REQUESTS,
  method: REQUESTS,
  request: REQUESTS,
  requestHeaders: REQUESTS,
  response: REQUESTS,
  serviceTime: REQUESTS,
  burst: { isMet: ({ axes }) => axes.burstSeconds !== undefined, lacks: 'has no bursts, as the experiment burst has' },
  pairs: { isMet: experiment => !REQUESTS.isMet(experiment), lacks: 'has a load, which would go to one pair alone' },
  services: { isMet: ({ axes }) => axes.pairs === undefined, lacks: 'has pairs, each with one server' },
  generator: { isMet: ({ axes }) => axes.sidecars === undefined, lacks: REQUESTS.lacks },
  p99: { isMet: asked => planOf(asked).limit !== undefined, lacks: 'searches no limit that a p99 holds' },
  rounds: { isMet: asked => !planOf(asked).choosesTrials, lacks: 'is a search, and has no rounds' },
  idleConnections: INTERLEAVED,
  placement: INTERLEAVED,
}

/** @param {Experiment} experiment */
const planOf = experiment => PLANS[kindsOf(experiment)[0]]

/** Options of a cluster, as they are written. @type {Partial<Record<keyof SiteOptions, string>>} */
const OF_CLUSTER = { context: '--context', node: '--node', loadNode: '--load-node', namespace: '--namespace' }

/** Conditions of options that the plan refuses. @type {Record<string, (experiment: Experiment) => boolean>} */
const PLANNED = {
  control: ({ axes }) => axes.sidecars !== undefined || axes.changesPerMinute !== undefined,
  precision: ({ load, keepsServices }) => load.kind !== 'idle' && !keepsServices,
}

/** Says whether an experiment takes an option. @param {string} name its attribute @param {Experiment} experiment */
export function isApplicable(name, experiment) {
  const isMet = NEEDS[/** @type {keyof typeof NEEDS} */ (name)]?.isMet ?? PLANNED[name]
  return isMet === undefined || isMet(experiment, {})
}

/** @param {Experiment} experiment @param {RunOptions} options @throws {UsageError} for one that would change nothing */
export function assertApplies(experiment, options) {
  for (const [name, { isMet, lacks }] of Object.entries(NEEDS)) {
    const value = /** @type {Record<string, unknown>} */ (options)[name]
    if (value === undefined || value === DEFAULT_GENERATOR || isMet(experiment, options)) continue
    const option = `--${name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`
    throw new UsageError(`${option}: ${experiment.name} ${lacks}: leave it out`)
  }
}

/** @param {SiteOptions & { all?: boolean }} options @throws {UsageError} for those that go together with other options only */
export function assertTargetHas({ loadHost, address, target, samples, image = {}, ...options }) {
  if (address && !loadHost)
    throw new UsageError(`--address ${address} needs --load-host: it is where the load of another machine goes`)
  if (loadHost && target === 'kubernetes')
    throw new UsageError(`--load-host ${loadHost}: on Kubernetes, --load-node chooses where the load is made`)
  if (target === 'kubernetes') return
  const named = Object.entries(OF_CLUSTER).find(([name]) => options[/** @type {'context'} */ (name)] !== undefined)
  const given =
    named?.[1] ?? (samples === 'kubelet' ? '--samples kubelet' : Object.keys(image).length > 0 ? '--image' : null)
  const asked = given ?? (options.all ? '--all' : null)
  if (asked === null) return
  throw new UsageError(`${asked} is for a cluster: add --target kubernetes, or leave it out`)
}
