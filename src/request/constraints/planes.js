/**
 * Constraints between the parts of one choice of `--planes`: the plane, its profile and its variant. Pure.
 * @import { DataPlane, PlaneChoice } from '../../model/types.ts'
 * @import { Constraint } from '../constraint.js'
 */

/**
 * A choice of `--planes`, and its plane.
 * @typedef {object} ChosenPlane
 * @property {PlaneChoice} choice
 * @property {DataPlane} plane
 * @property {boolean} isOfScripts the variant is a folder, and no program; false also: there is none
 * @property {string | null} scriptsVariable the environment variable that names the scripts of the profile; null: the profile needs none
 */

/** @type {Constraint<ChosenPlane>[]} */
export const PLANES = [
  {
    on: 'always',
    conflict: ({ plane, isOfScripts }) => plane.pipelines === 'only' && !isOfScripts,
    message: ({ choice: { plane } }) =>
      `${plane} runs a folder of yours, whose pipeline.yaml says how: write ${plane}=./folder (docs/your-pipeline.md)`,
  },
  {
    on: 'variant',
    conflict: ({ isOfScripts, scriptsVariable }) => isOfScripts && scriptsVariable,
    message: ({ choice: { plane, profile } }, variable) =>
      `${plane}:${profile} runs the scripts that ${variable} names: write it without "="`,
  },
  {
    on: 'variant',
    conflict: ({ isOfScripts, plane }) => isOfScripts && !plane.hasVariants,
    message: ({ choice: { plane } }) =>
      `the plane ${plane} runs no scripts: name a program of it, or run a folder with a pipeline.yaml by proxy=./folder`,
  },
  {
    on: 'variant',
    conflict: ({ plane }) => plane.tool === null,
    message: ({ choice: { plane } }) => `the plane ${plane} runs no program: write it without "="`,
  },
  {
    on: 'profile',
    conflict: ({ plane: { profiles } }) => profiles.length === 0,
    message: ({ choice: { plane } }) => `the plane ${plane} has no profiles: write it without ":"`,
  },
  {
    on: 'profile',
    conflict: ({ choice, plane: { profiles } }) => choice.profile === profiles[0],
    message: ({ choice: { plane, profile } }) => `"${plane}:${profile}" is what "${plane}" alone means: write that`,
  },
]
