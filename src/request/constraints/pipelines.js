import { AXES } from '../../model/arms.js'
import { REQUEST_AXES } from '../../model/requests.js'

/**
 * Constraints of a run whose plane is a folder with a `pipeline.yaml`, which describes one proxy. Pure.
 * @import { Arm, AxisName } from '../../model/types.ts'
 * @import { Constraint } from '../constraint.js'
 * @import { Overrides } from '../question.js'
 */

/** The link that has only one proxy. */
export const LINK = 'ratings'

/**
 * The options of a run whose plane is a pipeline.
 * @typedef {object} PipelineRequest
 * @property {string} file the pipeline.yaml
 * @property {Overrides['axes']} axes
 * @property {string} target
 * @property {boolean} hasTls on either side of the proxy
 * @property {string | null} generator by --generator; null: the default
 * @property {boolean} isLoadElsewhere another machine makes the load
 * @property {boolean} isEchoed the answer is the body that was posted
 */

/**
 * Creates the constraint that an axis of the options has one value only.
 * @param {'link' | 'features'} axis
 * @param {string} value the only one allowed
 * @param {string} why the end of the message
 * @returns {Constraint<PipelineRequest>}
 */
const createAxisConstraint = (axis, value, why) => ({
  on: 'always',
  conflict: ({ axes }) => axes[axis]?.find(candidate => candidate !== value),
  message: ({ file }, other) => `${file}: --${axis} ${other}: ${why}`,
})

// The load speaks HTTP/1.1, also through a proxy that passes bytes on.
const LOAD_PROTOCOLS = ['http/1.1', 'tcp']

/** @type {Constraint<PipelineRequest>[]} */
export const PIPELINES = [
  createAxisConstraint('link', LINK, `a pipeline.yaml describes one proxy before one application: give --link ${LINK}`),
  {
    on: 'always',
    conflict: ({ axes, hasTls }) => axes.tls?.find(tls => (tls === 'plaintext') === hasTls),
    message: ({ file }, tls) =>
      `${file}: --tls ${tls}: where TLS is spoken the file says (listen: { scheme: https }, upstream: { scheme: https }): leave it out`,
  },
  {
    on: 'always',
    conflict: ({ axes }) => axes.protocol?.find(protocol => !LOAD_PROTOCOLS.includes(protocol)),
    message: ({ file }, protocol) =>
      `${file}: --protocol ${protocol}: the load is HTTP/1.1 where a pipeline.yaml describes the proxy: leave it out, or give tcp for one that passes bytes on`,
  },
  createAxisConstraint('features', 'lean', 'it has the features of its scripts: leave it out'),
  {
    on: 'always',
    conflict: ({ axes }) =>
      [...REQUEST_AXES, 'traffic'].find(name => axes[/** @type {'method'} */ (name)] !== undefined),
    message: ({ file }, name) =>
      `${file}: ${AXES[/** @type {'method'} */ (name)].option?.flags.split(' ')[0]}: its request is the one that the file names: leave it out`,
  },
  {
    on: 'always',
    conflict: ({ axes }) => axes.workers?.join(),
    message: ({ file }, workers) =>
      `${file}: --workers ${workers}: its threads are those of the file: write workers there, and leave this out`,
  },
  {
    on: 'always',
    conflict: ({ target }) => target !== 'local' && target,
    message: ({ file }, target) =>
      `${file}: --target ${target}: folders with a pipeline.yaml run on this machine: leave it out`,
  },
  {
    on: 'always',
    conflict: ({ isLoadElsewhere }) => isLoadElsewhere,
    message: ({ file }) =>
      `${file}: --load-host: folders with a pipeline.yaml get their load from this machine: leave it out`,
  },
  {
    on: 'always',
    conflict: ({ generator, isEchoed }) => !isEchoed && generator,
    message: ({ file }, generator) =>
      `${file}: --generator ${generator} posts a body that comes back: leave it out, and k6 makes the load`,
  },
]

/**
 * An arm whose plane is a pipeline.
 * @typedef {object} PipelineArm
 * @property {string} file the pipeline.yaml
 * @property {string} experiment its name
 * @property {Arm} arm as the experiment and the options make it
 */

/** Axes that the kit renders into its own configuration, which a pipeline does not read. @type {AxisName[]} */
const CONFIGURED_AXES = [
  .../** @type {const} */ (['protocol', 'features', 'configuredServices', 'changesPerMinute', 'changed']),
  .../** @type {const} */ (['ending', 'sidecars']),
]

/** Constraints on an arm whose sidecars or requests a pipeline cannot serve. @type {Constraint<PipelineArm>[]} */
export const PIPELINE_ARMS = [
  {
    on: 'always',
    conflict: ({ arm }) =>
      CONFIGURED_AXES.find(name => {
        const value = AXES[name].readValue(arm)
        return value !== AXES[name].values[0] && !LOAD_PROTOCOLS.includes(value)
      }),
    message: ({ file, experiment, arm }, name) => {
      const { label, readValue, render } = AXES[/** @type {AxisName} */ (name)]
      return `${file}: ${experiment} asks for ${render(readValue(arm))} (${label}), which the kit configures, and a pipeline.yaml is run as it is: choose an experiment without it, such as cost`
    },
  },
  {
    on: 'always',
    conflict: ({ arm }) => arm.load.requests !== undefined,
    message: ({ file, experiment }) =>
      `${file}: ${experiment} names the requests of its load, and a pipeline.yaml has its own: choose an experiment without them, such as cost`,
  },
]
