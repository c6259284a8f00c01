import { symlinkSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { findNoexecMount } from '../../src/lib/mounts.js'
import { makeFolder } from '../fakes/scratch.js'

describe('findNoexecMount', () => {
  const line = (/** @type {string} */ at, /** @type {string} */ options) =>
    `36 35 98:0 / ${at} ${options} shared:1 - ext4 /dev/x rw\n`

  it('is the nearest mount, also of a file that is not there yet', () => {
    const mountinfo = line('/', 'rw') + line('/nowhere', 'rw,noexec') + line('/nowhere/my\\040tools', 'rw,relatime')
    expect(findNoexecMount('/nowhere/x/pipy', mountinfo)).toBe('/nowhere')
    expect(findNoexecMount('/nowhere/my tools/pipy', mountinfo)).toBeNull()
    expect(findNoexecMount('/nowhereelse', mountinfo)).toBeNull()
    expect(findNoexecMount('/nowhere', mountinfo + line('/nowhere', 'rw'))).toBeNull()
    expect(findNoexecMount('/x', '')).toBeNull()
  })

  it('follows links', () => {
    const folder = makeFolder('mounts')
    symlinkSync('/nowhere-here', path.join(folder, 'dangling'))
    symlinkSync('/proc/self', path.join(folder, 'link'))
    expect(findNoexecMount(path.join(folder, 'link', 'x'), line('/proc', 'rw,noexec'))).toBe('/proc')
  })
})
