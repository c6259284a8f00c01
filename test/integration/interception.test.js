import path from 'node:path'
import { execa } from 'execa'
import { describe, expect, it } from 'vitest'
import { ANSWER_GATES } from '../../src/judge/gates/answers.js'
import { readTextFiles } from '../../src/lib/text-files.js'
import { listProcEntries } from '../../src/node/kernel/proc-files.js'
import { readLedgers } from '../../src/node/ledger.js'
import { isWrong } from '../../src/parity/verdict/rows.js'
import { readRun, readSummary } from '../../src/records/records.js'
import { makeFolder } from '../fakes/scratch.js'
import { awaitWindowStart } from './await-window.js'
import { expectNothingLeft } from './leftovers.js'
import { need, needNamespaces } from './real-tools.js'

// Connections that rules redirect to sidecars, with the real programs, namespaces and rules.
/** @import { TrialRecord } from '../../src/model/types.ts' */
const folder = makeFolder('interception-test')
let count = 0

const SMOKE = ['--profile', 'smoke', '--users', '5', '--cpu', 'none']
const LINK = ['--link', 'gateway-ratings']

/**
 * Starts a run of a few seconds in which connections are redirected.
 * @param {string[]} argv @param {{ env?: Record<string, string>, before?: string[] }} [options] before: the command
 */
function start(argv, { env, before = [] } = {}) {
  const out = path.join(folder, `run-${++count}`)
  const link = argv.includes('--link') ? [] : LINK
  const command = [process.execPath, 'src/cli.js', 'bench', ...SMOKE, ...link, ...argv, '--out', out]
  const [program, ...rest] = [...before, ...command]
  return { out, child: execa(program, rest, { reject: false, env }) }
}

/** @param {string} out */
const runIdOf = out => readLedgers().find(({ owner }) => owner?.command.includes(out))?.runId
/** @param {string} runId */
const namespacesOf = runId => listProcEntries('/run/netns').filter(name => name.startsWith(`sidecar-bench.${runId}`))

/**
 * Asserts that a run ended, and had a verdict or was too disturbed for one: three of these tests run at the same time.
 * @param {{ exitCode?: number, stderr: string }} run
 */
const expectEnded = ({ exitCode, stderr }) => expect([0, 3], stderr).toContain(exitCode)

/**
 * Asserts that every request of the trials was answered as it must be. The other tests may have spoiled the numbers.
 * @param {TrialRecord[]} records
 */
function expectAnswered(records) {
  for (const { trial, outcome, load, gates } of records) {
    const wrong = gates.filter(({ gate }) => ANSWER_GATES.some(({ name }) => name === gate))
    expect([trial.id, outcome === 'failed', load?.failed, wrong]).toEqual([trial.id, false, 0, []])
  }
}

/**
 * Asserts that sidecars received the bytes of all verified requests, in each arm at least once: on a busy machine the bytes of a
 * window may not have been counted.
 * @param {TrialRecord[]} records
 * @param {(processes: TrialRecord['processes']) => Pick<TrialRecord['processes'][0], 'receivedBytes' | 'passages'>[]} [listHops]
 */
function expectPassed(records, listHops = processes => processes.filter(({ role }) => role === 'sidecar')) {
  const armsOf = (/** @type {TrialRecord[]} */ list) => new Set(list.map(({ trial }) => JSON.stringify(trial.arm)))
  const counted = records.filter(({ processes }) => listHops(processes).every(hop => hop.receivedBytes !== undefined))
  expect(armsOf(counted)).toEqual(armsOf(records))
  for (const { load, processes } of counted) {
    for (const { receivedBytes, passages } of listHops(processes))
      expect(receivedBytes).toBeGreaterThan(2048 * Number(passages) * Number(load?.verified))
  }
}

/** @param {import('vitest').TestContext} context @param {string[]} programs */
async function needRedirection(context, ...programs) {
  need(context, 'pipy', 'envoy', 'k6')
  await needNamespaces(context, 'ss', ...programs)
}

describe('redirected connections', { timeout: 240_000 }, () => {
  // The rules do not ask what they redirect to: one plane shows that those of the other program do the same.
  it.concurrent.for([
    { iptables: 'iptables-nft', planes: 'none,pipy,envoy', interception: 'none,redirect', arms: 6 },
    { iptables: 'iptables-legacy', planes: 'pipy', interception: 'redirect', arms: 1 },
  ])('pass both sidecars of $planes, by rules of $iptables', async ({ iptables, arms, ...axes }, context) => {
    await needRedirection(context, iptables)
    const argv = ['--planes', axes.planes, '--measure', 'cost', '--interception', axes.interception]
    const { child, out } = start(argv, { env: { IPTABLES: iptables } })
    const { exitCode, stdout, stderr } = await child
    expectEnded({ exitCode, stderr })
    if (arms > 1) expect(stdout).toMatch(/gateway-ratings: 2 sidecars, .*redirected/)
    const { manifest, records } = readRun(out)
    expect(manifest.machine.iptables).toContain(iptables.slice('iptables-'.length).replace('nft', 'nf_tables'))
    expect(new Set(records.map(({ trial }) => JSON.stringify(trial.arm))).size).toBe(arms)
    expectAnswered(records)
    expectPassed(records)
    for (const { processes, trial } of records) {
      const sidecars = processes.filter(({ role }) => role === 'sidecar')
      expect(sidecars).toHaveLength(trial.arm.hasSidecars ? 2 : 0)
    }
    expectNothingLeft(child.pid)
  })

  it.concurrent.for([
    { protocol: 'tcp', link: 'pair', planes: 'pipy,ztunnel' },
    { protocol: 'http/1.1', link: 'gateway-ratings', planes: 'pipy,ztunnel:istio' },
    { protocol: 'http/1.1', link: 'gateway-ratings', planes: 'pipy,ztunnel:node' },
  ])('go through ztunnel, which the kit certifies, on $link with $protocol', async (axes, context) => {
    await needRedirection(context, 'iptables')
    need(context, 'ztunnel')
    const { planes, protocol, link } = axes
    const argv = ['--planes', planes, '--measure', 'cost', '--interception', 'redirect', '--protocol', protocol]
    const { child, out } = start([...argv, '--link', link])
    const { exitCode, stdout, stderr } = await child
    expectEnded({ exitCode, stderr })
    expect(stdout).toMatch(/As meshes deploy them, work is not equal .*ztunnel/)
    if (protocol !== 'tcp') expect(stdout).toContain(`${planes.split(',')[1]} carries bytes`)
    const { manifest, records } = readRun(out)
    expect(manifest.deployed?.map(({ plane }) => plane)).toEqual([planes.split(',')[1]])
    const listHops = (/** @type {TrialRecord['processes']} */ processes) => {
      const sidecars = processes.filter(({ role }) => role === 'sidecar')
      return [...sidecars.flatMap(({ pods = [] }) => pods), ...sidecars.filter(({ pods }) => !pods)]
    }
    const ofZtunnelRecords = records.filter(r => r.trial.arm.plane === 'ztunnel')
    expectAnswered(ofZtunnelRecords)
    expectPassed(ofZtunnelRecords, listHops)
    for (const { processes } of ofZtunnelRecords) {
      const sidecars = processes.filter(({ role }) => role === 'sidecar')
      expect(sidecars.map(({ service }) => service)).toEqual(
        planes.endsWith(':node') ? ['node-proxy'] : [expect.any(String), expect.any(String)],
      )
      expect(listHops(processes)).toHaveLength(2)
    }
    const { parity } = /** @type {import('../../src/model/types.ts').Summary} */ (readSummary(out))
    const ofZtunnel = parity.filter(({ plane }) => plane.startsWith('ztunnel'))
    // All that it does otherwise is declared, but for the log that it has as deployed.
    const undeclared = ofZtunnel.filter(row => isWrong(row) && !row.lacks)
    expect(undeclared.map(({ name }) => name)).toEqual(planes.endsWith(':istio') ? ['parity-logging'] : [])
    const reasons = ofZtunnel.flatMap(({ lacks }) => lacks ?? [])
    expect(reasons).toContain('it carries bytes in HTTP/2 CONNECT (HBONE)')
    for (const text of Object.values(readTextFiles(out))) expect(text).not.toContain('PRIVATE KEY')
    expectNothingLeft(child.pid)
  })

  it.concurrent("go through Linkerd's proxy, whose control plane is the kit, in HTTP/1.1 and as Linkerd does", async context => {
    await needRedirection(context, 'iptables')
    need(context, 'linkerd2-proxy')
    const planes = ['--planes', 'linkerd,linkerd:deployed', '--link', 'pair']
    const { child, out } = start([...planes, '--measure', 'cost', '--interception', 'redirect'])
    const { exitCode, stdout, stderr } = await child
    expectEnded({ exitCode, stderr })
    expect(stdout).toMatch(/As meshes deploy them, work is not equal .*linkerd/)
    const { records } = readRun(out)
    // Interleaved arms are recorded in the order of their start, which is drawn.
    expect(new Set(records.map(({ trial }) => trial.arm.profile))).toEqual(new Set([null, 'deployed']))
    expectAnswered(records)
    expectPassed(records)
    const { parity } = /** @type {import('../../src/model/types.ts').Summary} */ (readSummary(out))
    const ofLean = parity.filter(({ plane }) => plane === 'linkerd')
    expect(ofLean.filter(row => isWrong(row) && !row.lacks).map(({ name }) => name)).toEqual([])
    for (const text of Object.values(readTextFiles(out))) expect(text).not.toContain('PRIVATE KEY')
    expectNothingLeft(child.pid)
  })

  it.for([
    'pipy',
    'ztunnel:node',
  ])('carry the load of a loud pair beside a quiet one, of %s', async (plane, context) => {
    await needRedirection(context, 'iptables')
    if (plane.startsWith('ztunnel')) need(context, 'ztunnel')
    const out = path.join(folder, `run-${++count}`)
    const argv = ['bench', 'node-proxy-loud', '--profile', 'smoke', '--planes', plane, '--out', out]
    const child = execa(process.execPath, ['src/cli.js', ...argv], { reject: false })
    const { exitCode, stdout, stderr } = await child
    expectEnded({ exitCode, stderr })
    expect(stdout).toMatch(/Quiet pairs beside 300 requests\/s to one: (?:no )?p99 /)
    const { records } = readRun(out)
    expect(records.map(({ trial }) => trial.arm.load.loudPerSecond ?? 0).toSorted()).toEqual([0, 300])
    for (const { trial, load, outcome, processes } of records) {
      const { loudPerSecond = 0, ratePerSecond = 0, windowSeconds } = trial.arm.load
      const verified = Number(load?.verified)
      expect([trial.id, outcome, load?.failed]).toEqual([trial.id, 'completed', 0])
      expect(load?.due).toBe(ratePerSecond * windowSeconds)
      const sidecars = processes.filter(({ role }) => role === 'sidecar')
      const hops = sidecars.flatMap(
        sidecar =>
          /** @type {Pick<typeof sidecar, 'copyOf' | 'passages' | 'receivedBytes'>[]} */ (sidecar.pods ?? [sidecar]),
      )
      const receivedBy = (/** @type {boolean} */ isQuiet) =>
        hops
          .filter(({ copyOf }) => (copyOf !== null) === isQuiet)
          .map(({ receivedBytes, passages }) => Number(receivedBytes) / Number(passages) / 2048)
      expect([receivedBy(true).length, receivedBy(false).length]).toEqual([2, 2])
      if (loudPerSecond === 0) {
        expect(load).not.toHaveProperty('loud')
        continue
      }
      const { due, verified: loudVerified = 0, failed, quiet } = load?.loud ?? {}
      expect({ due, failed }).toEqual({ due: loudPerSecond * windowSeconds, failed: 0 })
      expect(loudVerified).toBeGreaterThan(verified)
      expect(quiet).toHaveLength(1)
      // Each pair passed the bytes of its own requests.
      for (const requests of receivedBy(false)) expect(requests).toBeGreaterThan(loudVerified)
      for (const requests of receivedBy(true)) expect(requests).toBeGreaterThan(verified)
      expect(Math.max(...receivedBy(true))).toBeLessThan(Math.min(...receivedBy(false)))
    }
    expectNothingLeft(child.pid)
  })

  it('are found to go past the sidecars if somebody flushes the rules', async context => {
    await needRedirection(context, 'iptables', 'conntrack')
    const { child, out } = start(['--planes', 'pipy', '--measure', 'capacity', '--interception', 'redirect'])
    await awaitWindowStart(out)
    for (const name of namespacesOf(`${runIdOf(out)}`).filter(name => /\.(gateway|ratings)$/.test(name))) {
      const inside = ['netns', 'exec', name]
      await execa('ip', [...inside, 'iptables', '-t', 'nat', '-F'])
      // Connections that are open would go on through the sidecar.
      await execa('ip', [...inside, 'conntrack', '-F'])
    }
    await child
    const [{ outcome, gates, load }] = readRun(out).records
    const passage = gates.filter(({ gate }) => gate === 'passage').map(({ reason }) => reason)
    expect(Number(load?.verified)).toBeGreaterThan(100)
    expect(passage.join('\n')).toMatch(/^gateway's sidecar received \d+ bytes, and .*went past it\nratings's sidecar /)
    expect(outcome).toBe('invalid')
  })

  it('leave nothing after a run that was killed, once it is cleaned up', async context => {
    await needRedirection(context, 'iptables')
    const { child, out } = start(['--planes', 'pipy', '--measure', 'capacity', '--interception', 'redirect'])
    await awaitWindowStart(out)
    const runId = `${runIdOf(out)}`
    child.kill('SIGKILL')
    await child
    expect(namespacesOf(runId)).toHaveLength(5)
    const { stdout } = await execa(process.execPath, ['src/cli.js', 'cleanup', runId])
    expect(stdout).toContain(`network namespaces of run ${runId}`)
    expect(namespacesOf(runId)).toEqual([])
    expectNothingLeft(child.pid)
  })

  it('are refused in one line before anything starts if the rights are missing', async context => {
    await needRedirection(context, 'iptables')
    const before = ['setpriv', '--bounding-set=-net_admin,-sys_admin', '--inh-caps=-all']
    const { child, out } = start(['--planes', 'pipy', '--interception', 'redirect'], { before })
    const { exitCode, stderr } = await child
    expect(exitCode).toBe(1)
    expect(stderr).toMatch(/^error: --interception redirect needs root, or CAP_NET_ADMIN in a user namespace .*$/m)
    expect(listProcEntries(out)).toEqual([])
    expectNothingLeft(child.pid)
  })
})
