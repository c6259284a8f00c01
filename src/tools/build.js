import path from 'node:path'
import { execa } from 'execa'
import { lastLines } from '../lib/log-tail.js'
import { ROOT } from '../lib/paths.js'
import { hashSource, SOURCES } from './sources.js'

const BUILD_SECONDS = 300
// Folder of Go's own archive; few have it on PATH.
const GO_FOLDER = '/usr/local/go/bin'

/** Architectures as Go and containers name them, by Node's names. @type {Record<string, string>} */
export const ARCHITECTURES = { x64: 'amd64', arm64: 'arm64' }

/** @param {string} name @param {{ work: string, environment?: NodeJS.ProcessEnv, signal?: AbortSignal }} options */
export async function buildProgram(name, { work, environment = process.env, signal }) {
  const program = path.join(work, name)
  const source = SOURCES[name]
  const { exitCode, stderr, shortMessage } = await execa(
    environment.GO || 'go',
    // The same source gives the same program where it has no paths of this machine.
    ['build', '-trimpath', '-buildvcs=false', '-o', program, '.'],
    {
      cwd: path.join(ROOT, source),
      env: {
        ...environment,
        // A program of another machine, or of a newer processor, would be kept as one of this machine.
        GOOS: process.platform,
        GOARCH: ARCHITECTURES[process.arch] ?? process.arch,
        GOAMD64: 'v1',
        PATH: `${environment.PATH}${path.delimiter}${GO_FOLDER}`,
        // These settings allow no newer Go from the network, and no modules but those of go.sum.
        GOTOOLCHAIN: 'local',
        GOFLAGS: '-mod=readonly',
        CGO_ENABLED: '0',
      },
      extendEnv: false,
      reject: false,
      stdin: 'ignore',
      timeout: BUILD_SECONDS * 1000,
      ...(signal && { cancelSignal: signal, killSignal: 'SIGKILL' }),
    },
  )
  if (exitCode === 0) return { program, origin: { source, sourceSha256: hashSource(name) } }
  const why =
    exitCode === undefined ? `no Go in GO, PATH or ${GO_FOLDER} runs (${shortMessage})` : lastLines(stderr, 1)[0]
  throw new Error(`building ${source}: ${why}`)
}
