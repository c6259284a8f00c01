import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { execa } from 'execa'
import { expect, it } from 'vitest'
import { renderImageName, writeImage } from '../../src/tools/image.js'
import { makeFolder } from '../fakes/scratch.js'

it('writes an image of one layer, with the program on its PATH, the same each time', async () => {
  const folder = makeFolder('image-test')
  const [program, file, again] = ['program', 'image.tar', 'again.tar'].map(name => path.join(folder, name))
  writeFileSync(program, 'a static program')
  await writeImage({ name: 'ads', program, file })
  await writeImage({ name: 'ads', program, file: again })
  /** @param {string} name @param {string[]} more */
  const read = async (name, ...more) =>
    Buffer.from((await execa('tar', ['-xOf', file, name, ...more], { encoding: 'buffer' })).stdout)
  const [{ Config, RepoTags, Layers }] = JSON.parse(`${await read('manifest.json')}`)
  expect(RepoTags).toEqual([renderImageName('ads')])
  const layer = await read(Layers[0])
  const config = await read(Config)
  const sha256 = (/** @type {Buffer} */ bytes) => createHash('sha256').update(bytes).digest('hex')
  expect(Config).toBe(`${sha256(config)}.json`)
  expect(JSON.parse(`${config}`)).toMatchObject({
    os: 'linux',
    config: { Env: ['PATH=/'] },
    rootfs: { diff_ids: [`sha256:${sha256(layer)}`] },
  })
  const { stdout } = await execa('tar', ['-tvf', '-'], { input: layer })
  expect(stdout).toMatch(/^-rwxr-xr-x .* ads$/)
  const [one, other] = await Promise.all([file, again].map(name => execa('sha256sum', [name])))
  expect(one.stdout.split(' ')[0]).toBe(other.stdout.split(' ')[0])
})
