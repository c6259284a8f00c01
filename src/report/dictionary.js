import { GATES, USES } from '../judge/gates.js'
import { QUANTITIES } from '../judge/quantities.js'
import { uniqueBy } from '../lib/group-by.js'
import { alignLeft } from '../lib/text-table.js'

/**
 * Definitions of the words in a report. Pure.
 * @import { BoundBy, Verdict } from '../model/types.ts'
 * @import { Table } from '../lib/text-table.js'
 */

/** @type {Record<BoundBy, string>} */
const BOUND_BY = {
  sidecar: 'A sidecar used at least 95 % of its CPU limit. Only then is req/s the capacity of a proxy.',
  pod: 'A sidecar and its application used at least 95 % of the CPU limit of their pod (`--pod-cpu`).',
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

/** Words beside those of the other tables, in alphabetical order. */
const OTHER_WORDS = {
  'A/A': 'One plane, measured twice in each repeat. Its difference from itself is the noise of the run.',
  arm: 'One plane at one value of every axis: link, CPU limit, load, TLS, features and so on.',
  axis: 'What an experiment can vary, such as `--users 32,200`: each value makes an arm of each plane.',
  check:
    'A test of a trial (in code and files: gate). Where it fires, it excludes the quantities that are then untrue, and no others.',
  'closed loop': 'A fixed number of users. Each sends its next request when it has its answer.',
  contender:
    'A value of `--planes`: a plane, with a profile or a folder of its own, such as `envoy:istio` or `pipy=./mine`.',
  'CPU limit': 'The quota of the cgroup of each sidecar, in cores (`--cpu`).',
  'data plane': 'See plane.',
  'equal work':
    'Planes answer the requests and connections of the parity corpus alike. A check tries this before any load; only planes that do equal work are compared.',
  interleaved:
    'All arms stand at the same time, and one load goes to them by turns, so that a slower moment of the machine slows all of them.',
  lean: 'A sidecar that routes, speaks mTLS, tries a refused connection once more, and does nothing else: no access log, no metrics, no policies. The default.',
  link: 'The services that a request passes (`bench/topologies`): in gateway-ratings, gateway calls ratings, so two sidecars are in the path.',
  'median [low, high]':
    'The median over the repeats and its 95 % interval, exact from order statistics; of ratios of ten repeats and more by bootstrap. None below six repeats.',
  'open loop': 'Requests that start at a fixed rate (`--rate`), whether or not earlier ones were answered.',
  'parity corpus': 'The requests and connections that the equal-work check sends through every plane.',
  pass: 'Interleaved: one turn of every arm, in random order. A window is a whole number of passes.',
  pinned:
    'Interleaved (`--placement apart`): the generator has half of the CPUs for itself, and all arms share the others. Unpinned: every process may run on every CPU, as the kubelet runs them.',
  plane:
    'The program that is the sidecar, with its configuration: `pipy`, `envoy`, `nginx` and so on (a mesh calls its proxies the data plane). `none` has no sidecars.',
  profile:
    'Of a run: its number of repeats and their lengths (`--profile quick`); of a plane: its configuration (`envoy:osm-1.1`).',
  repeat:
    'One measurement of every arm, with fresh processes. It gives one ratio for each pair of arms. Interleaved arms are measured at once, others in a round.',
  round:
    'A repeat of arms that are not interleaved: one window of each, one after the other, in random order. `--rounds` sets the number of repeats, too.',
  trial: 'One arm in one repeat: services start, load warms them up, and a window is measured.',
  turn: 'Interleaved: the time in which the load goes to one arm, 500 ms (20 ms where versions of one plane are compared, pinned), before it goes to the next.',
  window: 'The part of a trial that is measured, after the warm-up.',
}

/**
 * Tabulates the definitions of quantities, what bound a trial, verdicts, other words and checks. A family of
 * quantities has one row.
 * @returns {Table[]} a table for each of these
 */
export function tabulateDictionary() {
  const quantities = Object.values(QUANTITIES).map(row => row.family ?? row)
  const distinctQuantities = uniqueBy(quantities, ({ label, definition }) => `${label} ${definition}`)
  const definitions = distinctQuantities.map(({ label, definition }) => [label, definition])
  return [
    tabulateDefinitions('Quantities', definitions),
    tabulateDefinitions('Bound by: what was saturated, the first that holds', Object.entries(BOUND_BY)),
    tabulateDefinitions('Verdicts', Object.entries(VERDICTS)),
    tabulateDefinitions('Other words', Object.entries(OTHER_WORDS)),
    {
      caption: 'Checks',
      columns: alignLeft('check', 'finds', 'excludes'),
      rows: [...GATES].map(([name, { finds, spoils }]) => {
        return [name, finds, spoils.length === USES.length ? 'everything' : spoils.join(', ')]
      }),
    },
  ]
}

/**
 * Tabulates words with their definitions.
 * @param {string} caption
 * @param {string[][]} rows pairs of word and definition
 * @returns {Table}
 */
function tabulateDefinitions(caption, rows) {
  return { caption, columns: alignLeft('word', 'definition'), rows }
}
