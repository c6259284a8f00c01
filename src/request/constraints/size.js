/** Options of `size` that cannot stand beside each other. Pure. */
/** @import { Constraint } from '../constraint.js' */

/** @type {Constraint<Record<string, any>>[]} */
export const SIZE_OPTIONS = [
  {
    on: 'reserve',
    conflict: ({ node }) => node === undefined,
    message: ({ reserve }) => `--reserve ${reserve} needs --node, such as --node 2c4g`,
  },
  {
    on: 'always',
    conflict: ({ sidecars, file, rate, p99 }) =>
      sidecars === undefined && file === undefined && (rate === undefined || p99 === undefined),
    message: () =>
      'size needs what to hold: --rate 500 --p99 20ms, or a file of services: -f services.yaml, or --sidecars 800 of one control plane',
  },
]
