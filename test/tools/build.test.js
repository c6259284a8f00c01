import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, it } from 'vitest'
import { buildProgram } from '../../src/tools/build.js'
import { hashSource, isBuiltByKit } from '../../src/tools/sources.js'
import { makeFolder } from '../fakes/scratch.js'

const work = makeFolder('build-test')
const go = path.join(work, 'go')

/** @param {string} script of the shell */
function installGo(script) {
  writeFileSync(go, `#!/bin/sh\n${script}\n`)
  chmodSync(go, 0o755)
}

describe('buildProgram', () => {
  const environment = { GO: go, PATH: '/usr/bin:/bin' }

  it('builds with the Go that is named, in the folder of the source, with its pinned modules alone', async () => {
    installGo('pwd > "$5"; echo "$GOTOOLCHAIN $GOFLAGS" >> "$5"')
    const { program, origin } = await buildProgram('ads', { work, environment })
    expect(program).toBe(path.join(work, 'ads'))
    expect(readFileSync(program, 'utf8')).toMatch(/src\/dataplanes\/envoy\/ads\nlocal -mod=readonly\n$/)
    expect(origin).toEqual({ source: 'src/dataplanes/envoy/ads', sourceSha256: hashSource('ads') })
  })

  it('prints the end of the output of Go, and where Go is looked for', async () => {
    installGo('echo first >&2; echo "go.mod requires go >= 1.99" >&2; exit 1')
    await expect(buildProgram('ads', { work, environment })).rejects.toThrow(
      'building src/dataplanes/envoy/ads: go.mod requires go >= 1.99',
    )
    installGo('exit 3')
    await expect(buildProgram('ads', { work, environment })).rejects.toThrow('exit code 3')
    const without = { ...environment, GO: '/no/such/go' }
    await expect(buildProgram('ads', { work, environment: without })).rejects.toThrow(
      'no Go in GO, PATH or /usr/local/go/bin runs',
    )
  })

  it('is of no program that is fetched', () =>
    expect([isBuiltByKit('pipy'), isBuiltByKit('ads')]).toEqual([false, true]))
})
