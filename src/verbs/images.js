import { Option } from 'commander'
import { adsTool } from '../dataplanes/envoy/ads-control.js'
import { BenchError } from '../lib/errors.js'
import { createImageOption } from '../prepare/options.js'
import { controlToolSpecs, toolSpecs } from '../prepare/programs.js'
import { listImages, listImports } from '../targets/kubernetes/images.js'
import { findTool } from '../tools/find.js'
import { nameBuiltImage, writeImage } from '../tools/image.js'

/** `images`: what a node without a registry needs. @type {import('./program.js').AddVerb} */
export function addImages(verb, { print, say, signal }) {
  verb
    .addOption(createImageOption(''))
    .addOption(new Option('--ads <file>', "write the image of --control ads, the kit's own server, to an archive"))
    .action(async ({ image: images, ads: file }) => {
      const specs = [...toolSpecs(), ...controlToolSpecs()]
      print((file === undefined ? listImages({ specs, images }) : await writeAds(file)).join('\n'))
    })

  /** @param {string} file */
  async function writeAds(file) {
    const { name } = adsTool
    const tool = await findTool(adsTool, { say, signal })
    if ('missing' in tool) throw new BenchError(tool.missing)
    await writeImage({ name, program: tool.path, file })
    return [`${file} has the image ${nameBuiltImage(name)}.`, ...listImports(file)]
  }
}
