import { symlinkSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { findNoexec } from '../../src/lib/mounts.js'
import { makeFolder } from '../fakes/scratch.js'

describe('findNoexec', () => {
  const line = (/** @type {string} */ at, /** @type {string} */ options) =>
    `36 35 98:0 / ${at} ${options} shared:1 - ext4 /dev/x rw\n`

  it('is the nearest mount, also of a file that is not there yet', () => {
    const mountinfo = line('/', 'rw') + line('/nowhere', 'rw,noexec') + line('/nowhere/my\\040tools', 'rw,relatime')
    expect(findNoexec('/nowhere/x/pipy', mountinfo)).toBe('/nowhere')
    expect(findNoexec('/nowhere/my tools/pipy', mountinfo)).toBeNull()
    expect(findNoexec('/nowhereelse', mountinfo)).toBeNull()
    expect(findNoexec('/nowhere', mountinfo + line('/nowhere', 'rw'))).toBeNull()
    expect(findNoexec('/x', '')).toBeNull()
  })

  it('follows links', () => {
    const folder = makeFolder('mounts')
    symlinkSync('/nowhere-here', path.join(folder, 'dangling'))
    symlinkSync('/proc/self', path.join(folder, 'link'))
    expect(findNoexec(path.join(folder, 'link', 'x'), line('/proc', 'rw,noexec'))).toBe('/proc')
  })
})
