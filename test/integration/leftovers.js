import { readdirSync } from 'node:fs'
import os from 'node:os'
import { expect } from 'vitest'
import { treeParents } from '../../src/targets/local/cgroups.js'
import { findMarked } from '../../src/targets/local/process-accounting.js'
import { capWay } from './real-tools.js'

/** No process, cgroup or folder of a run is left on this machine. */
export function expectNothingLeft() {
  expect(findMarked('SIDECAR_BENCH_RUN=', null)).toEqual([])
  for (const parent of treeParents(capWay))
    expect(readdirSync(parent).filter(name => name.startsWith('sidecar-bench.2'))).toEqual([])
  expect(readdirSync(os.tmpdir()).filter(name => name.startsWith('sidecar-bench.'))).toEqual([])
}
