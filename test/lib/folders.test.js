import { existsSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { makeFolder } from '../../src/lib/folders.js'
import { makeFolder as makeScratch } from '../fakes/scratch.js'

describe('makeFolder', () => {
  const scratch = makeScratch('folders-test')

  it('makes a folder and those above it, and leaves one that exists', () => {
    const folder = path.join(scratch, 'a/b/c')
    makeFolder(folder)
    const { ino } = statSync(folder)
    makeFolder(folder)
    expect(statSync(folder).ino).toBe(ino)
  })

  it('names the file that is in the way, and what to do', () => {
    const file = path.join(scratch, 'file')
    writeFileSync(file, '')
    for (const folder of [file, path.join(file, 'a/b')])
      expect(() => makeFolder(folder)).toThrow(`${file} is a file: name another folder, or remove it`)
  })

  it('makes nothing at a dead link', () => {
    const link = path.join(scratch, 'link')
    symlinkSync(path.join(scratch, 'nowhere'), link)
    expect(() => makeFolder(link)).toThrow('EEXIST')
    expect(existsSync(path.join(scratch, 'nowhere'))).toBe(false)
  })
})
