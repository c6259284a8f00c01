import { GATES, USES } from '../judge/gates.js'
import { QUANTITIES } from '../judge/quantities.js'
import { left } from '../lib/text-table.js'

/** The definitions of the words of a report. Pure. @import { BoundBy, Verdict } from '../model/types.ts' */

/** @type {Record<BoundBy, string>} */
const BOUND_BY = {
  sidecar: 'A sidecar used at least 95 % of its CPU limit. Only then is req/s the capacity of a proxy.',
  worker: 'One worker thread of a sidecar used at least 95 % of a core.',
  application:
    'A thread of an application used at least 90 % of a core. (From 70 % on it already slows requests, and its check fires.)',
  generator: 'The generator used more than 80 % of its CPUs, or was throttled.',
  host: 'The machine was less than 5 % idle.',
  users:
    'Closed loop: nothing was saturated. More users may give more requests; where the machine is nearly full, only a smaller CPU limit or wrk does.',
  drops: 'Open loop: requests that were due never started, for no user was free to send them.',
  rate: 'Open loop: nothing was saturated at this rate.',
}

/** @type {Record<Verdict, string>} */
const VERDICTS = {
  lower: 'The first proxy has less: the 95 % interval of the median ratio is below 1, and the gap is above the noise.',
  higher: 'The first proxy has more.',
  'no-difference-shown':
    'The interval includes 1, or the gap is smaller than 3 % (interleaved, with an A/A pair: 1 %) or than the A/A difference.',
  indicative: 'No interval yet: fewer than six repeats, so the ratio names no winner.',
  invalid:
    'No verdict: a check excluded a repeat, or the proxies did not do equal work. Of capacity also: something else than the sidecar was the limit.',
}

const GENERAL = {
  arm: 'One plane at one value of every axis: link, cap, load, TLS, features and so on.',
  'CPU limit': 'Of each sidecar, in cores: the quota of its cgroup.',
  window: 'The part of a trial that is measured, after the warm-up.',
  'parity corpus':
    'Requests and connections that try every plane before load. Only planes that do equal work are compared.',
  trial: 'One measurement of an arm in a round: services start, load warms them up, and a window is measured.',
  link: 'The services that a request passes (`bench/topologies`): in gateway-ratings, gateway calls ratings, so two sidecars are in the path.',
  'closed loop': 'A fixed number of users. Each sends its next request when it has its answer.',
  'open loop': 'Requests that start at a fixed rate (`--rate`), whether or not earlier ones were answered.',
  profile:
    'Of a run: its number of rounds and lengths (`--profile quick`); of a plane: its configuration (`envoy:osm-1.1`).',
  round: 'One pass over all arms, in random order. Planes are compared round by round.',
  'median [low, high]':
    'The median over the rounds and its 95 % interval, exact from order statistics; of ratios of ten rounds and more by bootstrap. None below six rounds.',
  'A/A': 'One plane, measured twice in each round. Its difference from itself is the noise of the run.',
  check: 'A test of a trial. Where it fires, it excludes the quantities that are then untrue, and no others.',
}

/** Makes the tables of definitions. @returns {import('../lib/text-table.js').Table[]} */
export function tabulateDictionary() {
  const define = (/** @type {string} */ caption, /** @type {[string, string][]} */ rows) => {
    return { caption, columns: left('word', 'definition'), rows }
  }
  // Quantities of a family share one definition.
  /** @type {Map<string, [string, string]>} */
  const quantities = new Map()
  for (const row of Object.values(QUANTITIES)) {
    const { label, definition } = row.family ?? row
    quantities.set(`${label} ${definition}`, [label, definition])
  }
  return [
    define('Quantities', [...quantities.values()]),
    define('Bound by: what was saturated, the first that holds', Object.entries(BOUND_BY)),
    define('Verdicts', Object.entries(VERDICTS)),
    define('Other words', Object.entries(GENERAL)),
    {
      caption: 'Checks',
      columns: left('check', 'finds', 'excludes'),
      rows: [...GATES].map(([name, { finds, spoils }]) => {
        return [name, finds, spoils.length === USES.length ? 'everything' : spoils.join(', ')]
      }),
    },
  ]
}
