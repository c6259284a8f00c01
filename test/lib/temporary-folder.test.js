import { execFileSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { withTemporaryFolder } from '../../src/lib/temporary-folder.js'

describe('withTemporaryFolder', () => {
  it('gives what the function gives, and removes the folder with what is in it', async () => {
    const folder = await withTemporaryFolder('temporary-test', folder => {
      writeFileSync(path.join(folder, 'file'), 'x')
      return folder
    })
    expect(path.basename(folder)).toMatch(/^temporary-test-/)
    expect(existsSync(folder)).toBe(false)
  })

  it('removes it if the function throws', async () => {
    let made = ''
    const failing = withTemporaryFolder('temporary-test', async folder => {
      made = folder
      throw new Error('no room')
    })
    await expect(failing).rejects.toThrow('no room')
    expect(existsSync(made)).toBe(false)
  })

  it('removes it if the process exits meanwhile', () => {
    const script = `
      import { withTemporaryFolder } from './src/lib/temporary-folder.js'
      withTemporaryFolder('temporary-test', folder => process.stdout.write(folder, () => process.exit(0)))`
    const made = execFileSync(process.execPath, ['--input-type=module', '--eval', script], { encoding: 'utf8' })
    expect(path.basename(made)).toMatch(/^temporary-test-/)
    expect(existsSync(made)).toBe(false)
  })
})
