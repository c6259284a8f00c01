import { renderCommand } from '../../lib/render-command.js'

/** Options of `size` that exclude or need each other. Pure. @import { Constraint } from '../constraint.js' */

/** Options of a measured run, which --from-prometheus excludes. Those with a default are left out: they always have a value. */
const MEASURING_OPTIONS = [
  ...['rate', 'p99', 'file', 'sidecars', 'users', 'payload', 'features', 'interception', 'protocol', 'tls'],
  ...['traffic', 'neighbour', 'method', 'request', 'requestHeaders', 'response', 'serviceTime', 'chunks', 'planes'],
  ...['node', 'reserve', 'nodes', 'from', 'extrapolate', 'seed', 'out', 'live', 'metrics', 'yes', 'recheck', 'dryRun'],
]
/** Formats that only --from-prometheus has; `yaml` is one of a measured run, too. */
const PRODUCTION_ONLY_FORMATS = ['json', 'csv']
const PRODUCTION_OPTIONS = ['namespace', 'container', 'for', 'plane', 'ratios', 'queryTimeout']

/**
 * Renders the flag of an option: `serviceTime` as `--service-time`.
 * @param {string} name of the option, in camel case
 * @returns {string}
 */
const renderFlag = name => `--${name.replaceAll(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`

/**
 * Renders the --rate of the options, or an example if there is none.
 * @param {Record<string, any>} options
 * @returns {string}
 */
const renderRateOption = ({ rate = 500 }) => `--rate ${rate}`

/**
 * Says whether options name nothing to size: no load with a p99, file of services, control plane or Prometheus.
 * @param {Record<string, any>} options
 * @returns {boolean}
 */
function namesNothingToSize({ sidecars, file, rate, p99, fromPrometheus }) {
  const hasOther = [sidecars, file, fromPrometheus].some(value => value !== undefined)
  return !hasOther && (rate === undefined || p99 === undefined)
}

/** @type {Constraint<Record<string, any>>[]} */
export const SIZE_OPTIONS = [
  {
    on: 'cpuRequest',
    conflict: () => true,
    message: options =>
      `--cpu-request ${options.cpuRequest}: size finds the CPU request itself: on a full node with --neighbour 2c, else from what a sidecar uses. For the p99 at requests that you name, run ${renderCommand('bench', `cpu-request ${renderRateOption(options)} --cpu-request ${options.cpuRequest}`)}`,
  },
  {
    on: 'podCpu',
    conflict: () => true,
    message: options =>
      `--pod-cpu ${options.podCpu}: size finds the limits of a sidecar alone. A quota for both depends on your application, and here the kit's runs: leave --pod-cpu out, and add what your application needs. For the p99 at quotas that you name, run ${renderCommand('bench', `--measure capacity --cpu none ${renderRateOption(options)} --pod-cpu ${options.podCpu}`)}`,
  },
  {
    on: 'fromPrometheus',
    conflict: options => MEASURING_OPTIONS.find(name => options[name] !== undefined),
    message: (_, name) =>
      `--from-prometheus reads what runs already, and measures nothing: leave out ${renderFlag(name)}${name === 'planes' ? ', or name one to compare with as --plane' : ''}`,
  },
  {
    on: 'fromPrometheus',
    conflict: ({ namespace }) => namespace === undefined,
    message: () => '--from-prometheus needs --namespace, that of the workloads, such as --namespace shop',
  },
  ...PRODUCTION_OPTIONS.map(name => ({
    on: name,
    conflict: (/** @type {Record<string, any>} */ { fromPrometheus }) => fromPrometheus === undefined,
    message: () => `${renderFlag(name)} needs --from-prometheus http://localhost:9090, from where it is read`,
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
    conflict({ format, fromPrometheus }) {
      const isOfProduction = PRODUCTION_ONLY_FORMATS.includes(format)
      return format !== 'yaml' && isOfProduction !== (fromPrometheus !== undefined)
    },
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
    conflict: namesNothingToSize,
    message: () =>
      'size needs what to hold: --rate 500 --p99 20ms, or a file of services: -f services.yaml, --sidecars 800 of one control plane, or --from-prometheus of what runs already',
  },
]
