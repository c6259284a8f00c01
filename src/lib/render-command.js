import path from 'node:path'
import { ROOT } from './paths.js'

const NAME = 'sidecar-bench'
// An installed package lies below node_modules; npx runs a checkout by the name of its program.
const isByNpx = ROOT.split(path.sep).includes('node_modules') || path.basename(process.argv[1] ?? '') === NAME

/**
 * Renders a command of the kit as a user types it here: with npx, or with npm run in a checkout.
 * @param {string} verb
 * @param {string} [words] that follow it
 * @returns {string}
 */
export function renderCommand(verb, words = '') {
  if (isByNpx) return `npx ${NAME} ${verb}${words && ` ${words}`}`
  return `npm run ${verb}${words && ` -- ${words}`}`
}
