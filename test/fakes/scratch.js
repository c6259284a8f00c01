import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { afterAll, onTestFinished } from 'vitest'

/** Makes a folder that is removed after the tests of the file. @param {string} name */
export function makeFolder(name) {
  return make(name, afterAll)
}

/** Makes a folder that is removed after the test. @param {string} name */
export function makeOwnFolder(name) {
  return make(name, onTestFinished)
}

/** Returns a function that copies a folder, to be spoiled. @param {string} folder */
export function createCopier(folder) {
  let copies = 0
  return () => {
    const copy = `${folder}-copy-${++copies}`
    cpSync(folder, copy, { recursive: true })
    return copy
  }
}

/** @param {string} name @param {(remove: () => void) => void} at */
function make(name, at) {
  const folder = mkdtempSync(path.join(os.tmpdir(), `${name}-`))
  at(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
