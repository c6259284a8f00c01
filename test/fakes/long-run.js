// A run of eight hours on fakes, in seconds: prints what it left and its heap after each quarter. Run with --expose-gc.
import { mkdtempSync, rmSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'
import { estimateSeconds } from '../../src/plan/plan.js'
import { createFakeTarget } from './fake-bench.js'
import { prepareFake, runFake } from './fake-run.js'

const ROUNDS = 136
const axes = '{ plane: [none, cheap, dear], link: [gateway-ratings], cpuLimitCores: [0.25], users: [10] }'
const more = `profiles: { standard: { rounds: ${ROUNDS}, warmupSeconds: 20, windowSeconds: 50, hasControl: false } }`

const folder = path.join(mkdtempSync(path.join(os.tmpdir(), 'long-run-')), 'run')
const target = await createFakeTarget()
const { plan } = prepareFake({ target, ledgers: path.dirname(folder), axes, more }).preparation
/** @type {number[]} */
const heapBytes = []
let ended = 0
const { records } = await runFake({
  ...{ folder, target, axes, more },
  watch(event) {
    if (event.kind !== 'trial-ended') return
    // The fake keeps all that it ever ran.
    target.deployed.length = 0
    if (++ended % (plan.trials.length / 4) !== 0) return
    globalThis.gc?.()
    heapBytes.push(process.memoryUsage().heapUsed)
  },
})
rmSync(path.dirname(folder), { recursive: true })
const outcomes = records.map(({ outcome }) => outcome)
console.log(JSON.stringify({ plannedSeconds: estimateSeconds(plan.trials), outcomes, heapBytes }))
