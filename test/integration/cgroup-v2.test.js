import { existsSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { execa } from 'execa'
import { beforeEach, describe, expect, it } from 'vitest'
import { readRun } from '../../src/records/records.js'
import { makeOwnFolder } from '../fakes/scratch.js'
import { need } from './real-tools.js'

// A command that runs its arguments on a kernel with cgroup v2; what it writes to CGROUP2_OUT comes back.
const machine = process.env.TEST_CGROUP2
let out = ''
// Each try has a folder of its own: an earlier one may have left results.
beforeEach(() => {
  out = makeOwnFolder('cgroup2-test')
})

// The checkout, in a place that every user may enter. A copy would take minutes here.
const KIT = 'mkdir /tmp/kit && mount --bind . /tmp/kit && cd /tmp/kit'

// Emulated, so ten times slower: few users, the shortest link, one plane.
const BENCH = 'bench --rounds 1 --link ratings --users 4 --planes pipy'

/** @param {string} script @param {import('vitest').TestContext} context @param {number} [cpus] of the machine */
async function onV2(script, context, cpus = 2) {
  need(context, 'pipy', 'k6')
  if (!machine) return context.skip('needs TEST_CGROUP2, a command that runs its arguments on a cgroup v2 kernel')
  const file = path.join(out, 'script')
  writeFileSync(file, script)
  const { exitCode, all } = await execa(machine, ['bash', file], {
    ...{ reject: false, all: true, stdin: 'ignore' },
    env: { CGROUP2_OUT: out, CGROUP2_SECONDS: '500', CGROUP2_CPUS: `${cpus}` },
  })
  return { exitCode, all }
}

describe('on a cgroup v2 kernel', { timeout: 520_000 }, () => {
  it('caps sidecars as root, to 0.1 and 0.25 cores where they bind, on CPUs of their own where there are four', async context => {
    const result = await onV2(`node src/cli.js ${BENCH} --profile quick --cpu 0.1,0.25 --out ${out}/root`, context, 4)
    expect(result?.exitCode, result?.all).toBe(0)
    const { manifest, records } = readRun(`${out}/root`)
    expect(manifest.machine).toMatchObject({ cgroupVersion: 2, capWay: 'v2' })
    const placement = { sidecar: [0], application: [1], generator: [2, 3] }
    expect(manifest.placements).toMatchObject({ 'ratings-pipy-0.1': placement, 'ratings-pipy-0.25': placement })
    const inTurns = records.filter(r => r.trial.arm.cpuLimitCores === null)
    expect(new Set(inTurns.map(r => r.outcome))).toEqual(new Set(['completed']))
    const completed = records.filter(r => r.outcome === 'completed' && r.trial.arm.cpuLimitCores !== null)
    expect(new Set(completed.map(r => r.trial.arm.cpuLimitCores))).toEqual(new Set([0.1, 0.25]))
    for (const { trial, processes, boundBy, generatorCpus } of completed) {
      expect(processes.map(p => [p.role, p.cpuSet])).toEqual([
        ['application', '1'],
        ['sidecar', '0'],
        ['generator', '2-3'],
      ])
      expect(generatorCpus).toBe(2)
      const [sidecar] = processes.filter(p => p.role === 'sidecar')
      expect(sidecar.cpuLimitReadBackCores).toBe(trial.arm.cpuLimitCores)
      expect(sidecar.memory.anonBytes).toBeGreaterThan(1e6)
      expect(boundBy).toBe('sidecar')
      // A window of 35 periods, cut anywhere: one period more or less is 3 %.
      expect(sidecar.cpuCores / Number(trial.arm.cpuLimitCores)).toBeLessThan(1.03)
    }
  })

  it('names the three ways out to another user, and caps sidecars in a subtree delegated to him, and cleans up', async context => {
    const script = `
      set -e
      ${KIT}
      setpriv --reuid=nobody --clear-groups env HOME=/tmp node src/cli.js bench --cpu 0.25 && exit 8 || [ $? = 1 ]
      mkdir /sys/fs/cgroup/delegated
      echo '+cpu +memory' >/sys/fs/cgroup/cgroup.subtree_control
      chown -R nobody /sys/fs/cgroup/delegated
      chmod 777 ${out}
      export SIDECAR_BENCH_CACHE=\${SIDECAR_BENCH_CACHE:-$HOME/.cache/sidecar-bench}
      for tool in pipy k6; do install -m 755 "$(node -e "
        const { findTool } = await import('./src/tools/find.js')
        const { loadPlanes } = await import('./src/dataplanes/registry.js')
        const { k6Tool } = await import('./src/loads/k6/index.js')
        const spec = [...Object.values(await loadPlanes()).flatMap(p => p.tool ?? []), k6Tool].find(s => s.name === '$tool')
        console.log((await findTool(spec, { fetch: null })).path)" --input-type=module)" /tmp/$tool; done
      cat >/tmp/as-nobody <<'END'
      echo 0 >/sys/fs/cgroup/delegated/cgroup.procs
      cd /tmp/kit
      exec setpriv --reuid=nobody --clear-groups env -u SIDECAR_BENCH_CACHE HOME=/tmp PIPY=/tmp/pipy K6=/tmp/k6 node src/cli.js ${BENCH} --profile smoke --measure capacity --cpu 0.25 --out ${out}/user
END
      bash /tmp/as-nobody
      ls -d /sys/fs/cgroup/delegated/sidecar-bench.* 2>/dev/null && exit 9
      exit 0`
    const result = await onV2(script, context)
    expect(result?.exitCode, result?.all).toBe(0)
    expect(result?.all).toMatch(
      /no CPU cap can be set here: .*run as root; or in a cgroup v2 subtree delegated to this user; or measure without a cap: --cpu none/,
    )
    expect(existsSync(`${out}/user/summary.json`)).toBe(true)
    const { manifest, records } = readRun(`${out}/user`)
    expect(manifest.machine.capWay).toBe('v2')
    expect(new Set(records.map(r => r.trial.arm.plane))).toEqual(new Set(['pipy']))
    for (const { processes } of records)
      expect(processes.find(p => p.role === 'sidecar')?.cpuLimitReadBackCores).toBe(0.25)
  })
})
