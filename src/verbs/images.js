import { createImageOption } from '../prepare/options.js'
import { toolSpecs } from '../prepare/programs.js'
import { listImages } from '../targets/kubernetes/images.js'

/** `images`: what a node without a registry needs. @type {import('./program.js').AddVerb} */
export function addImages(verb, { print }) {
  verb
    .addOption(createImageOption(''))
    .action(({ image: images }) => print(listImages({ specs: toolSpecs(), images }).join('\n')))
}
