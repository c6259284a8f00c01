/** Options of `size` that cannot stand beside each other. Pure. */
/** @import { Constraint } from '../constraint.js' */

/** Options of a measured run that have no default. */
const MEASURING = [
  ...['rate', 'p99', 'file', 'sidecars', 'users', 'payload', 'features', 'interception', 'protocol', 'tls', 'traffic'],
  ...['method', 'request', 'requestHeaders', 'response', 'serviceTime', 'chunks', 'planes', 'node', 'reserve', 'nodes'],
  ...['from', 'extrapolate', 'seed', 'out', 'live', 'metrics', 'yes', 'recheck', 'dryRun'],
]
const OF_PRODUCTION = ['namespace', 'container', 'for', 'plane', 'ratios', 'queryTimeout']

/** @param {string} name */
const toFlag = name => `--${name.replaceAll(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`

/** @type {Constraint<Record<string, any>>[]} */
export const SIZE_OPTIONS = [
  {
    on: 'fromPrometheus',
    conflict: options => MEASURING.find(name => options[name] !== undefined),
    message: (_, name) =>
      `--from-prometheus reads what runs already, and measures nothing: leave out ${toFlag(name)}${name === 'planes' ? ', or name one to compare with as --plane' : ''}`,
  },
  {
    on: 'fromPrometheus',
    conflict: ({ namespace }) => namespace === undefined,
    message: () => '--from-prometheus needs --namespace, that of the workloads, such as --namespace shop',
  },
  ...OF_PRODUCTION.map(name => ({
    on: name,
    conflict: (/** @type {Record<string, any>} */ { fromPrometheus }) => fromPrometheus === undefined,
    message: () => `${toFlag(name)} needs --from-prometheus http://localhost:9090, from where it is read`,
  })),
  {
    on: 'plane',
    conflict: ({ ratios }) => ratios === undefined,
    message: ({ plane }) =>
      `--plane ${plane} needs --ratios results/RUN: a run that compared it with the sidecar of today, such as bench --planes ${plane},envoy`,
  },
  {
    on: 'ratios',
    conflict: ({ plane }) => plane === undefined,
    message: ({ ratios }) => `--ratios ${ratios} needs --plane: the data plane that would run instead`,
  },
  {
    on: 'format',
    conflict: ({ format, fromPrometheus }) =>
      (fromPrometheus !== undefined) !== ['json', 'csv'].includes(format) && format !== 'yaml',
    message: ({ format, fromPrometheus }) =>
      fromPrometheus === undefined
        ? `--format ${format} is of --from-prometheus: choose yaml, helm or compose, or --json`
        : `--format ${format} is of a measured run: --from-prometheus has json, csv and yaml`,
  },
  {
    on: 'reserve',
    conflict: ({ node }) => node === undefined,
    message: ({ reserve }) => `--reserve ${reserve} needs --node, such as --node 2c4g`,
  },
  {
    on: 'always',
    conflict: ({ sidecars, file, rate, p99, fromPrometheus }) =>
      fromPrometheus === undefined &&
      sidecars === undefined &&
      file === undefined &&
      (rate === undefined || p99 === undefined),
    message: () =>
      'size needs what to hold: --rate 500 --p99 20ms, or a file of services: -f services.yaml, --sidecars 800 of one control plane, or --from-prometheus of what runs already',
  },
]
