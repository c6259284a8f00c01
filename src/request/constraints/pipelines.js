import { AXES } from '../../model/arms.js'
import { REQUEST_AXES } from '../../model/requests.js'

/** What cannot be asked beside a `pipeline.yaml`, which describes one proxy in plaintext. Pure. */
/** @import { Overrides } from '../question.js' @import { Constraint } from '../constraint.js' */

/** The link of one proxy alone. */
export const LINK = 'ratings'

/**
 * @typedef {object} PipelineRequest
 * @property {string} file the pipeline.yaml
 * @property {Overrides['axes']} axes
 * @property {string} target
 * @property {string | null} generator that is not the default
 * @property {boolean} isLoadElsewhere
 * @property {boolean} isEchoed the answer is the body that was posted
 */

/** @param {'link' | 'tls' | 'protocol' | 'features'} axis @param {string} value the only one @param {string} why @returns {Constraint<PipelineRequest>} */
const only = (axis, value, why) => ({
  on: 'always',
  conflict: ({ axes }) => axes[axis]?.find(one => one !== value),
  message: ({ file }, other) => `${file}: --${axis} ${other}: ${why}`,
})

/** @type {Constraint<PipelineRequest>[]} */
export const PIPELINES = [
  only('link', LINK, `a pipeline.yaml describes one proxy before one application: give --link ${LINK}`),
  only('tls', 'plaintext', 'the load comes in plaintext, and so it goes on: leave it out'),
  only('protocol', 'http/1.1', 'the load is HTTP/1.1 where a pipeline.yaml describes the proxy: leave it out'),
  only('features', 'lean', 'it has the features of its scripts: leave it out'),
  {
    on: 'always',
    conflict: ({ axes }) =>
      [...REQUEST_AXES, 'traffic'].find(name => axes[/** @type {'method'} */ (name)] !== undefined),
    message: ({ file }, name) =>
      `${file}: ${AXES[/** @type {'method'} */ (name)].option?.flags.split(' ')[0]}: its request is the one that the file names: leave it out`,
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
