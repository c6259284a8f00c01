import { readFileSync } from 'node:fs'
import { execa } from 'execa'
import { hashFolder } from './hash.js'
import { ROOT } from './paths.js'

/** The kit's version, the state of its checkout (null outside of git), and the SHA-256 of its code. */
export async function readKit() {
  const { version } = JSON.parse(readFileSync(`${ROOT}/package.json`, 'utf8'))
  const git = await execa('git', ['describe', '--always', '--dirty', '--abbrev=12'], { cwd: ROOT, reject: false })
  return { version, git: git.exitCode === 0 ? git.stdout : null, sha256: hashKit() }
}

/** The SHA-256 of the kit's code. */
export function hashKit() {
  return hashFolder(`${ROOT}/src`)
}
