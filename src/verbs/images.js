import { arch, platform } from 'node:process'
import { Option } from 'commander'
import { adsTool } from '../dataplanes/envoy/ads-control.js'
import { BenchError, UsageError } from '../lib/errors.js'
import { createImageOption } from '../prepare/options.js'
import { assertImageTools, loadControlToolSpecs, loadToolSpecs } from '../prepare/programs.js'
import { renderImages, renderImports } from '../targets/kubernetes/images.js'
import { ARCHITECTURES } from '../tools/build.js'
import { findTool } from '../tools/find.js'
import { renderImageName, writeImage } from '../tools/image.js'

const ADS_HELP =
  "build the server of --control ads, and write its image to an archive for nodes of this machine's architecture"

/**
 * Adds `images`, which lists the images that a node needs, or writes one to load where no registry is reached.
 * @type {import('./program.js').AddVerb}
 */
export function addImages(verb, context) {
  verb
    .addOption(createImageOption(''))
    .addOption(new Option('--ads <file>', ADS_HELP).conflicts('image'))
    .action(async ({ image: images, ads: file }) => {
      if (file !== undefined && platform !== 'linux')
        throw new UsageError(`--ads ${file}: images are of Linux: run it on a Linux machine of the node's architecture`)
      await assertImageTools(images)
      const specs = [...(await loadToolSpecs()), ...(await loadControlToolSpecs())]
      const lines = file === undefined ? renderImages({ specs, images }) : await writeAdsImage(file, context)
      context.print(lines.join('\n'))
    })
}

/**
 * Builds the ADS server if this kit has not built it yet, and writes its image to an archive.
 * @param {string} file the path of the archive
 * @param {Pick<import('./program.js').Context, 'say' | 'signal'>} context
 * @returns {Promise<string[]>} lines that say how to load the image
 * @throws {BenchError} if the server cannot be built, or the program that was found was not built by this kit; as `findTool`; the
 *   system's error if the archive cannot be written; the signal's reason when it aborts
 */
async function writeAdsImage(file, { say, signal }) {
  const { name } = adsTool
  const tool = await findTool(adsTool, { say, signal })
  if ('missing' in tool) throw new BenchError(tool.missing)
  // The image's tag has the hash of this kit's source: for another program it would be wrong.
  if (!['cache', 'fetched'].includes(tool.source))
    throw new BenchError(
      `${tool.path} (${tool.source}) was not built by this kit: unset ENVOY_ADS, or take it off PATH`,
    )
  await writeImage({ name, program: tool.path, file })
  return [
    `${file} has the image ${renderImageName(name)}, for nodes of ${ARCHITECTURES[arch] ?? arch}.`,
    ...renderImports(file),
  ]
}
