/** Options of `lab` that exclude or need each other. Pure. @import { Constraint } from '../constraint.js' */

/**
 * A command line of `lab`.
 * @typedef {object} LabRequest
 * @property {string[]} flags the options that the user wrote, since some have defaults
 * @property {boolean} [watch]
 * @property {boolean} [profile]
 * @property {boolean} [time]
 * @property {boolean} [json]
 * @property {string} [against] the scripts of the old side
 * @property {string[]} pipy the programs of --pipy: one for both sides, or that of the old side and that of the new
 * @property {{ label: string, scripts: string, profile: string | null, isKit: boolean, pipeline?: unknown }} side the scripts to count;
 *   isKit: they are the kit's; pipeline: their pipeline.yaml, or 'unknown': they need one and have none
 * @property {boolean} isOnBothSides the old side would run these scripts, too
 */

/** @type {Constraint<LabRequest>[]} */
export const LAB_OPTIONS = [
  {
    on: 'profile',
    conflict: ({ flags }) => ['watch', 'requests', 'threshold'].find(name => flags.includes(name)),
    message: (_, name) => `--profile samples a load: --${name} belongs to a count, leave one of them out`,
  },
  {
    on: 'time',
    conflict: ({ flags }) => ['watch', 'profile', 'json'].find(name => flags.includes(name)),
    message: (_, name) => `--time measures after a count: leave out --${name}`,
  },
  {
    on: 'watch',
    conflict: ({ isOnBothSides }) => isOnBothSides,
    message: ({ side }) =>
      `--watch counts the old side once, and ${side.scripts} would be on both sides: name other scripts with --against`,
  },
  {
    on: 'time',
    conflict: ({ side }) => side.pipeline === 'unknown',
    message: ({ side }) =>
      `--time needs a pipeline.yaml that says how ${side.label} is run: lab new --from ${side.label} writes it`,
  },
  {
    on: 'always',
    conflict: ({ side }) => /** @type {{ program?: string | null } | null} */ (side.pipeline ?? null)?.program,
    message: ({ side }, program) =>
      `lab counts what Pipy executes, and ${side.label} starts ${program}: measure it with bench -- cost --planes proxy=${side.scripts}`,
  },
  {
    on: 'time',
    conflict: ({ side }) => side.profile !== null,
    message: ({ side }) => `--time does not redirect connections: measure ${side.label} with bench -- as-deployed`,
  },
  {
    on: 'time',
    conflict: ({ pipy }) => pipy.length === 1,
    message: ({ pipy }) => `--time needs --pipy twice: set PIPY=${pipy[0]} to measure both sides on one program`,
  },
  {
    on: 'time',
    conflict: ({ pipy, side }) => pipy.length > 1 && !side.isKit,
    message: ({ side }) => `--time with --pipy compares programs that run the kit's scripts: leave out ${side.label}`,
  },
  {
    on: 'time',
    conflict: ({ pipy, against }) => pipy.length > 1 && against !== undefined,
    message: ({ against }) =>
      `--time with --pipy runs the same scripts on both programs: leave out --against ${against}`,
  },
]
