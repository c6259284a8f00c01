import { existsSync, readFileSync } from 'node:fs'
import { hashFolder } from './hash.js'
import { ROOT } from './paths.js'

/** @returns {string} */
export function readVersion() {
  return JSON.parse(readFileSync(`${ROOT}/package.json`, 'utf8')).version
}

/** Reads the kit's version, the state of its checkout (null outside of git), and the SHA-256 of its code. */
export async function readKit() {
  const { execa } = await import('execa')
  // An installed package may lie in the checkout of another project.
  if (!existsSync(`${ROOT}/.git`)) return { version: readVersion(), git: null, sha256: hashKit() }
  const git = await execa('git', ['describe', '--always', '--dirty', '--abbrev=12'], {
    cwd: ROOT,
    reject: false,
    timeout: 10_000,
  })
  return { version: readVersion(), git: git.exitCode === 0 ? git.stdout : null, sha256: hashKit() }
}

/** Computes the SHA-256 of the kit's code. */
export function hashKit() {
  return hashFolder(`${ROOT}/src`)
}
