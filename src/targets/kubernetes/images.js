import { renderCommand } from '../../lib/render-command.js'
import { renderImageName } from '../../tools/image.js'
import { nodeTool } from '../../tools/node.js'
import { isBuiltByKit } from '../../tools/sources.js'

/** The images of the tools of a run. A node has some of them, and pulls the others or imports them from an archive. */
/**
 * @import { V1Node } from '@kubernetes/client-node'
 * @import { ToolSpec } from '../../model/types.ts'
 */

const ARCHIVE = 'images.tar'

/**
 * Finds a tool's image: that of the user, else the one that the kit builds, else the tool's own.
 * @param {Pick<ToolSpec, 'name' | 'image'>} tool
 * @param {Record<string, string>} images of the user, by the tool's name
 * @returns {string | null} null: there is none
 */
export function findImage({ name, image }, images) {
  return images[name] ?? (isBuiltByKit(name) ? renderImageName(name) : image)
}

/**
 * Chooses the image of each tool, and that of Node, which the kit's own pods need in every run. Tools without an image are left out.
 * @param {{ specs: ToolSpec[], images: Record<string, string> }} options images: of the user, by the tool's name
 * @returns {{ name: string, image: string }[]} one for each name of a tool; of two tools of a name, that of the last
 */
export function chooseImages({ specs, images }) {
  const distinct = new Map([...specs, nodeTool].map(spec => [spec.name, spec]))
  return [...distinct.values()].flatMap(spec => {
    const image = findImage(spec, images)
    return image === null ? [] : [{ name: spec.name, image }]
  })
}

/**
 * Renders the images of a run, and the commands that bring them to a node without a registry.
 * @param {Parameters<typeof chooseImages>[0]} options
 * @returns {string[]} lines
 */
export function renderImages({ specs, images }) {
  const choices = chooseImages({ specs, images })
  const builtChoices = choices.filter(({ name }) => isBuiltByKit(name) && !Object.hasOwn(images, name))
  const pulledChoices = choices.filter(choice => !builtChoices.includes(choice))
  const pulledImages = [...new Set(pulledChoices.map(({ image }) => image))]
  const width = Math.max(...choices.map(({ name }) => name.length))
  return [
    ...choices.map(({ name, image }) => `${name.padEnd(width)}  ${image}`),
    '',
    "Where a registry is reached, on a machine of the node's architecture:",
    ...pulledImages.map(image => `  docker pull ${image}`),
    `  docker save -o ${ARCHIVE} ${pulledImages.join(' ')}`,
    ...renderImports(ARCHIVE),
    ...builtChoices.flatMap(({ name }) => [
      `For --control ${name}, on a machine of the node's architecture; it says how a node imports that archive:`,
      `  ${renderCommand('images', `--${name} ${name}.tar`)}`,
    ]),
  ]
}

/**
 * Renders the commands that import an archive of images on a node.
 * @param {string} archive its file name
 * @returns {string[]} lines
 */
export function renderImports(archive) {
  return [
    'Then once for every node of the run, the one that fits:',
    `  ctr -n k8s.io images import ${archive}   (containerd, on the node)`,
    `  k3s ctr images import ${archive}         (k3s, on the node)`,
    `  kind load image-archive ${archive}`,
  ]
}

/**
 * Says whether a node lists an image, by any of its names.
 * @param {V1Node} node
 * @param {string} image
 * @returns {boolean} false also: the image is not among the 50 largest, which the kubelet lists
 */
export function hasImage({ status }, image) {
  const fullName = expandImageName(image)
  return status?.images?.some(({ names }) => names?.some(name => expandImageName(name) === fullName)) ?? false
}

/**
 * Says whether a node pulls an image at every start, as the kubelet does without a tag, or with `latest`.
 * @param {string} image
 * @returns {boolean} false also: the image has a digest
 */
export function isAlwaysPulled(image) {
  return expandImageName(image).endsWith(':latest')
}

/**
 * Expands an image's name as nodes list it: with its registry, and its digest or else its tag (`latest` by default).
 * @param {string} image
 * @returns {string}
 */
function expandImageName(image) {
  const [taggedName, digest] = image.split('@', 2)
  const [first, ...rest] = taggedName.split('/')
  const hasRegistry = rest.length > 0 && (/[.:]/.test(first) || first === 'localhost')
  const fullName = hasRegistry ? taggedName : `docker.io/${rest.length > 0 ? '' : 'library/'}${taggedName}`
  const [, repository, tag = 'latest'] = /^(.*?)(?::([^/:]+))?$/.exec(fullName) ?? []
  return digest ? `${repository}@${digest}` : `${repository}:${tag}`
}
