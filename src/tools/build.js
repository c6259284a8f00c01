import path from 'node:path'
import { execa } from 'execa'
import { listLastLines } from '../lib/log-tail.js'
import { ROOT } from '../lib/paths.js'
import { hashSource, SOURCES } from './sources.js'

const BUILD_SECONDS = 300
// Go's own instructions unpack its archive there, and that folder is not always on PATH.
const GO_FOLDER = '/usr/local/go/bin'

/** Names of architectures in Go and in images, by those of Node; others are alike. @type {Record<string, string>} */
export const ARCHITECTURES = { x64: 'amd64', arm64: 'arm64' }

/**
 * Builds a program with Go, with the same result for the same source.
 * @param {string} name a key of SOURCES
 * @param {{ work: string, environment?: NodeJS.ProcessEnv, signal?: AbortSignal }} options work: the folder into which it is
 *   built; environment: that of the build; its GO is the path of Go, by default that on PATH or in GO_FOLDER
 * @returns program: its path; origin: its source with the hash, for origin.json
 * @throws {Error} if Go is missing, the build fails, takes more than BUILD_SECONDS, or the signal aborts; the system's error if the
 *   source cannot be read
 */
export async function buildProgram(name, { work, environment = process.env, signal }) {
  const program = path.join(work, name)
  const source = SOURCES[name]
  const { exitCode, stderr, shortMessage, isTerminated, timedOut } = await execa(
    environment.GO || 'go',
    // Without this machine's paths (-trimpath) and the VCS stamp (-buildvcs=false), one version of Go gives the same program for a source.
    ['build', '-trimpath', '-buildvcs=false', '-o', program, '.'],
    {
      cwd: path.join(ROOT, source),
      env: {
        ...environment,
        // Settings of the user for another machine, or a newer processor, would give a cached program that does not run here.
        GOOS: process.platform,
        GOARCH: ARCHITECTURES[process.arch] ?? process.arch,
        GOAMD64: 'v1',
        PATH: `${environment.PATH}${path.delimiter}${GO_FOLDER}`,
        // Go may fetch no newer Go, and no module that is not in go.sum; without cgo the program is static.
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
  if (isTerminated || timedOut) throw new Error(`building ${source}: ${shortMessage}`)
  const why =
    exitCode === undefined
      ? `no Go in GO, PATH or ${GO_FOLDER} runs (${shortMessage})`
      : (listLastLines(stderr, 1)[0] ?? shortMessage)
  throw new Error(`building ${source}: ${why}`)
}
