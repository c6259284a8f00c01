import { readFile, writeFile } from 'node:fs/promises'
import { arch } from 'node:process'
import { buffer } from 'node:stream/consumers'
import { pack } from 'tar-stream'
import { hashText } from '../lib/hash.js'
import { ARCHITECTURES } from './build.js'
import { hashSource } from './sources.js'

/** The image of a program that the kit builds: no registry has it, so it is written as an archive that nodes import. */

// The same program must give the same image, so no entry carries the time at which it was written.
const NO_TIME = new Date(0)

/**
 * Renders the image's name with the hash of its source, so that a node never runs the image of another version.
 * @param {string} name of the program, a key of SOURCES
 * @returns {string}
 * @throws the system's error if the source cannot be read
 */
export function renderImageName(name) {
  return `localhost/sidecar-bench-${name}:${hashSource(name).slice(0, 12)}`
}

/**
 * Writes an image of one layer with one static program, in the format of `docker save`, which containerd, k3s and kind import.
 * @param {{ name: string, program: string, file: string }} options name: of the program on the image's PATH, a key of SOURCES;
 *   program: its path on this machine; file: the path of the archive, which is replaced
 * @throws the system's error if the program or its source cannot be read, or the archive not written
 */
export async function writeImage({ name, program, file }) {
  const layer = await packEntries([{ name, mode: 0o755, bytes: await readFile(program) }])
  const config = Buffer.from(
    JSON.stringify({
      architecture: ARCHITECTURES[arch] ?? arch,
      os: 'linux',
      config: { Entrypoint: [`/${name}`], Env: ['PATH=/'] },
      rootfs: { type: 'layers', diff_ids: [`sha256:${hashText(layer)}`] },
      history: [{ created_by: 'sidecar-bench images' }],
    }),
  )
  const [configFile, layerFile] = [`${hashText(config)}.json`, `${hashText(layer)}/layer.tar`]
  const manifest = JSON.stringify([{ Config: configFile, RepoTags: [renderImageName(name)], Layers: [layerFile] }])
  const contents = { [configFile]: config, [layerFile]: layer, 'manifest.json': Buffer.from(manifest) }
  const entries = Object.entries(contents).map(([entryName, bytes]) => ({ name: entryName, mode: 0o644, bytes }))
  await writeFile(file, await packEntries(entries))
}

/**
 * Packs a tar archive in memory, without times.
 * @param {{ name: string, mode: number, bytes: Uint8Array }[]} entries mode: permissions
 * @returns {Promise<Buffer>}
 */
async function packEntries(entries) {
  const archive = pack()
  for (const { name, mode, bytes } of entries) archive.entry({ name, mode, mtime: NO_TIME }, /** @type {any} */ (bytes))
  archive.finalize()
  return buffer(archive)
}
