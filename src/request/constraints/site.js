/** Options of the place and the length of a run that exclude or need each other. Pure. @import { Constraint } from '../constraint.js' */

/** Options that need a cluster: their names, and their flags. */
const CLUSTER_OPTIONS = [
  ['context', '--context'],
  ['node', '--node'],
  ['loadNode', '--load-node'],
  ['namespace', '--namespace'],
  ['image', '--image'],
  ['all', '--all'],
]

/**
 * Options of a command, under their names in camel case.
 * @typedef {Record<string, any>} Options
 */

/** @type {Constraint<Options>[]} */
export const SITE_OPTIONS = [
  {
    on: 'address',
    conflict: ({ loadHost }) => !loadHost,
    message: ({ address }) => `--address ${address} needs --load-host: it is where the load of another machine goes`,
  },
  {
    on: 'loadHost',
    conflict: ({ target }) => target === 'kubernetes',
    message: ({ loadHost }) => `--load-host ${loadHost}: on Kubernetes, --load-node chooses where the load is made`,
  },
  {
    on: 'samples',
    conflict: ({ samples, target }) => samples === 'kubelet' && target !== 'kubernetes',
    message: () => '--samples kubelet is for a cluster: add --target kubernetes, or leave it out',
  },
  {
    on: 'samples',
    conflict: ({ samples, node, loadNode }) => samples === 'kubelet' && loadNode !== undefined && loadNode !== node,
    message: () => '--samples kubelet cannot tell how far clocks are apart: it takes no --load-node',
  },
  ...CLUSTER_OPTIONS.map(([on, option]) => ({
    on,
    conflict: (/** @type {Options} */ { target }) => target !== 'kubernetes',
    message: () => `${option} is for a cluster: add --target kubernetes, or leave it out`,
  })),
  {
    on: 'precision',
    conflict: ({ yes }) => yes,
    message: () =>
      '--precision ends at --max-minutes: leave out --yes, and set --max-minutes to the time that the run may take',
  },
]
