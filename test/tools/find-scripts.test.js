import { mkdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { FSM_DEPLOYED } from '../../src/dataplanes/pipy/fsm/index.js'
import { findScripts } from '../../src/tools/find-scripts.js'
import { makeFolder } from '../fakes/scratch.js'

let root = ''
beforeEach(() => {
  root = makeFolder('find-scripts')
})

const spec = /** @type {NonNullable<typeof FSM_DEPLOYED.scripts>} */ (FSM_DEPLOYED.scripts)
const CODEBASE = 'pkg/sidecar/v1/providers/pipy/repo/codebase'

it('finds scripts in the folder that is named, or where a checkout has them', () => {
  const codebase = path.join(root, CODEBASE)
  mkdirSync(path.join(codebase, 'modules'), { recursive: true })
  writeFileSync(path.join(codebase, 'modules/inbound-main.js'), '')
  for (const FSM of [root, codebase]) expect(findScripts(spec, { FSM })).toEqual({ folder: codebase })
})

it('says what to set where none is named, and where none is there', () => {
  expect(findScripts(spec, {})).toEqual({ missing: expect.stringMatching(/set FSM to a checkout of flomesh-io\/fsm/) })
  expect(findScripts(spec, { FSM: root })).toEqual({
    missing: `no modules/inbound-main.js in FSM=${root}, nor below it where it belongs: set FSM to ${spec.what}`,
  })
})
