import { existsSync, readFileSync } from 'node:fs'
import { hashFolder } from './hash.js'
import { ROOT } from './paths.js'

/** Reads the kit's version from its package.json. @returns {string} @throws the system's error if it cannot be read */
export function readVersion() {
  return JSON.parse(readFileSync(`${ROOT}/package.json`, 'utf8')).version
}

/**
 * Reads the kit's version, `git describe` of its checkout, and the SHA-256 of its code.
 * @returns git: null: the kit is no checkout, or git is missing, failed or took longer than ten seconds
 */
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

/**
 * Computes the SHA-256 of the kit's code, the folder src.
 * @returns {string} in hexadecimal
 */
export function hashKit() {
  return hashFolder(`${ROOT}/src`)
}
