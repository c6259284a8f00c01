import { createImageParser } from '../prepare/options.js'
import { toolSpecs } from '../prepare/preparation.js'
import { listImages } from '../targets/kubernetes/images.js'

/**
 * `images`: what a node without a registry needs.
 * @import { Command } from 'commander'
 * @import { Context } from './program.js'
 */

/**
 * @param {Command} verb
 * @param {Context} context
 */
export function addImages(verb, { print }) {
  const parseImage = createImageParser(toolSpecs().map(t => t.name))
  verb
    .option('--image <tool=image>', 'another image, such as pipy=registry/pipy:1.5', parseImage, {})
    .action(({ image }) => print(listImages({ specs: toolSpecs(), images: image }).join('\n')))
}
