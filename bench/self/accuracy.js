// Whether the kit's numbers agree with what others read of the same processes.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { execa } from 'execa'
import { median } from 'simple-statistics'
import { ROOT } from '../../src/lib/paths.js'
import { waitForCondition, waitUntilEpoch } from '../../src/lib/wait.js'
import { k6 } from '../../src/loads/k6/index.js'
import { listArms } from '../../src/model/results.js'
import { measurePreparation } from '../../src/prepare/measure.js'
import { createPreparation } from '../../src/prepare/plan-run.js'
import { readExperiment } from '../../src/prepare/read-experiment.js'
import { readRun } from '../../src/records/records.js'
import { findCapWay } from '../../src/targets/local/cgroups.js'
import { listMarkedProcesses } from '../../src/targets/local/marks.js'
import { openLocalSite } from '../../src/targets/local/site.js'
import { findTool } from '../../src/tools/find.js'
import { createFinding, getScratch, runKit, writeExperiment, writeVariant } from './kit.js'

const CPU_WINDOW_SECONDS = 20
const TICKS_PER_SECOND = 100
const RATE_WINDOW_SECONDS = 5
const DELAY_MS = 5
const START_SECONDS = 120

/** @returns {Promise<import('./kit.js').Finding[]>} */
export async function checkAccuracy() {
  return [...(await checkCpu()), ...(await checkRate()), ...(await checkAddedLatency())]
}

/** CPU time by cgroup against /proc/PID/stat and against pidstat, over the same window. */
async function checkCpu() {
  const findings = []
  for (const plane of ['pipy', 'envoy']) {
    const experiment = writeExperiment(`accuracy-${plane}`, { rounds: 1, windowSeconds: CPU_WINDOW_SECONDS })
    /** @type {{ ticks: number, pidstatCores: number }} */
    let reference = { ticks: Number.NaN, pidstatCores: Number.NaN }
    const { records } = await runKit([experiment, '--planes', plane, '--cpu', '1'], async out => {
      const { startMs, endMs } = await awaitRunWindow(out)
      await waitUntilEpoch(startMs)
      const sidecars = listMarkedProcesses().filter(({ name }) => ['gateway-sidecar', 'ratings-sidecar'].includes(name))
      const pids = sidecars.map(({ pid }) => pid)
      const before = sumTicks(pids)
      const pidstat = readPidstat(pids)
      await waitUntilEpoch(endMs)
      reference = { ticks: sumTicks(pids) - before, pidstatCores: await pidstat }
    })
    const [record] = records
    const sidecars = record.processes.filter(p => p.role === 'sidecar')
    const cpuSeconds = sidecars.reduce((sum, p) => sum + p.cpuSeconds, 0)
    const cpuCores = sidecars.reduce((sum, p) => sum + p.cpuCores, 0)
    const isWithinPercent = (/** @type {number} */ r) => Math.abs(r - 1) <= 0.01
    findings.push(
      createFinding(
        `${plane}: CPU time / that of /proc/PID/stat, within 1 % (${cpuSeconds.toFixed(1)} CPU-seconds)`,
        (cpuSeconds * TICKS_PER_SECOND) / reference.ticks,
        [],
        isWithinPercent,
      ),
      createFinding(
        `${plane}: CPU cores / those of pidstat, within 1 %`,
        cpuCores / reference.pidstatCores,
        [],
        isWithinPercent,
      ),
    )
  }
  return findings
}

/** Verified requests in the window against what an application that counts has answered in it. */
async function checkRate() {
  const out = path.join(getScratch(), 'rate')
  const { signal } = new AbortController()
  const say = () => {}
  const site = await openLocalSite({ runId: `self-${process.pid}`, way: await findCapWay(), findTool })
  const preparation = await createPreparation({
    experiment: readExperiment(writeExperiment('rate', { rounds: 3, windowSeconds: RATE_WINDOW_SECONDS })),
    overrides: {
      planes: [{ plane: 'pipy', variant: null, profile: null }],
      cpuLimits: [0.25],
      axes: { link: ['ratings'] },
      ...{ rounds: null, profile: 'standard', seed: 1, app: 'node', isPinned: true },
    },
    app: 'node',
    site,
    say,
  })
  await measurePreparation({
    preparation,
    site,
    out,
    execution: { command: [], echoScripts: path.join(ROOT, 'bench/self/echo') },
    watcher: { say },
    signal,
  })
  await site.target.close()
  const ratios = readRun(out).records.map(({ trial, window, load }) => {
    const log = readFileSync(path.join(out, 'raw', trial.id, 'ratings-application.log'), 'utf8')
    const counted = [...log.matchAll(/^(\d+) (\d+)$/gm)]
      .filter(([, at]) => window && Number(at) >= window.startMs && Number(at) < window.endMs)
      .reduce((sum, [, , n]) => sum + Number(n), 0)
    return Number(load?.verified) / counted
  })
  return [
    createFinding(
      'rate / that of an application that counts, within 2 %',
      median(ratios),
      ratios,
      r => Math.abs(r - 1) <= 0.02,
    ),
  ]
}

/** A delay put into a sidecar shows as added latency. */
async function checkAddedLatency() {
  const delayed = writeVariant('delayed', { filter: `.wait(() => new Timeout(${DELAY_MS / 1000}).wait())` })
  const { summary } = await runKit([
    ...['--planes', `none,pipy,pipy=${delayed}`, '--link', 'ratings', '--cpu', '0.5', '--rate', '200'],
  ])
  const [plain, slow] = ['pipy', 'pipy=delayed'].map(name => {
    const variant = name === 'pipy' ? null : delayed
    return listArms(summary).find(arm => arm.plane === 'pipy' && arm.variant === variant && !arm.repeatOf)
  })
  const added = (slow?.addedLatencyMs?.p50?.values ?? []).map(
    (v, i) => Number(v) - Number(plain?.addedLatencyMs?.p50?.values[i]),
  )
  const known = added.filter(Number.isFinite)
  return [
    createFinding(
      `added latency (p50) of a delay of ${DELAY_MS} ms, within 0.3 ms`,
      median(known),
      known,
      ms => Math.abs(ms - DELAY_MS) <= 0.3,
    ),
  ]
}

/** @param {string} out */
async function awaitRunWindow(out) {
  /** @type {{ startMs: number, endMs: number } | null} */
  let window = null
  const find = () => {
    const raw = path.join(out, 'raw')
    const trial = existsSync(raw) ? readdirSync(raw).find(name => name.startsWith('r1-')) : undefined
    const log = trial ? path.join(raw, trial, 'k6-generator.log') : ''
    window = existsSync(log) ? k6.parseWindow(readFileSync(log, 'utf8')) : null
    return window !== null
  }
  await waitForCondition(find, { what: 'the window to be said', deadlineSeconds: START_SECONDS })
  return /** @type {{ startMs: number, endMs: number }} */ (/** @type {unknown} */ (window))
}

/**
 * User and system time of processes, in clock ticks: proc(5), stat fields 14 and 15.
 * @param {number[]} pids
 */
function sumTicks(pids) {
  return pids
    .map(pid =>
      readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) /s, '')
        .split(' '),
    )
    .reduce((sum, fields) => sum + Number(fields[11]) + Number(fields[12]), 0)
}

/**
 * Cores that pidstat reports over most of the window.
 * @param {number[]} pids
 */
async function readPidstat(pids) {
  await delay(10)
  const { stdout } = await execa('pidstat', ['-u', '-p', pids.join(','), `${CPU_WINDOW_SECONDS - 1}`, '1'])
  const lines = stdout.split('\n').filter(line => line.startsWith('Average:') && !line.includes('%CPU'))
  // Average: UID PID %usr %system %guest %wait %CPU CPU Command
  return lines.reduce((sum, line) => sum + Number(line.trim().split(/\s+/)[7]) / 100, 0)
}
