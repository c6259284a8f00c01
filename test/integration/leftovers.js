import { readdirSync } from 'node:fs'
import os from 'node:os'
import { expect } from 'vitest'
import { treeParents } from '../../src/targets/local/cgroups.js'
import { listMarked } from '../../src/targets/local/marks.js'
import { capWay } from './real-tools.js'

/** No process, cgroup or folder of a run is left on this machine. */
export function expectNothingLeft() {
  expect(listMarked()).toEqual([])
  for (const parent of treeParents(capWay))
    expect(readdirSync(parent).filter(name => name.startsWith('sidecar-bench.2'))).toEqual([])
  expect(readdirSync(os.tmpdir()).filter(name => name.startsWith('sidecar-bench.'))).toEqual([])
}

/**
 * The processes of a service in a role, of every run.
 * @param {string} name such as ratings-sidecar
 */
export function pidsOf(name) {
  return listMarked().flatMap(marked => (marked.name === name ? [marked.pid] : []))
}
