import { writeFileSync } from 'node:fs'
import path from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { findStrace } from '../../src/prepare/open-lab.js'
import { makeFolder } from '../fakes/scratch.js'

afterEach(() => vi.unstubAllEnvs())

describe('findStrace', () => {
  it.each([
    ['what it logged', 'echo "strace: ptrace: not permitted" >&2', 'strace: ptrace: not permitted'],
    ['how it ended, if it logged nothing', '', 'Command failed with exit code 3'],
  ])('says why strace traces nothing: %s', async (_, log, reason) => {
    const strace = path.join(makeFolder('open-lab-test'), 'strace')
    const script = `#!/bin/sh\n[ "$1" = --version ] && echo 'strace -- version 6.1' && exit\n${log}\nexit 3\n`
    writeFileSync(strace, script, { mode: 0o755 })
    vi.stubEnv('STRACE', strace)
    const { missing } = /** @type {{ missing: string }} */ (await findStrace())
    expect(missing).toContain(`${strace} traces no process here: ${reason}`)
  })
})
