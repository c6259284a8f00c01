import { existsSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { execa } from 'execa'
import { beforeEach, describe, expect, it } from 'vitest'
import { readRun } from '../../src/records/records.js'
import { makeFolder } from '../fakes/scratch.js'
import { need } from './real-tools.js'

// A command that runs its arguments on a kernel with cgroup v2; what it writes to CGROUP2_OUT comes back.
const machine = process.env.TEST_CGROUP2
let out = ''
// Each try has a folder of its own: an earlier one may have left results.
beforeEach(() => {
  out = makeFolder('cgroup2-test')
})

// The checkout, in a place that every user may enter. A copy would take minutes here.
const KIT = 'mkdir /tmp/kit && mount --bind . /tmp/kit && cd /tmp/kit'

// Emulated, so ten times slower: few users, the shortest link, one plane.
const BENCH = 'bench --rounds 1 --link ratings --users 4 --planes pipy'

/** @param {string} script @param {import('vitest').TestContext} context */
async function onV2(script, context) {
  need(context, 'pipy', 'k6')
  if (!machine) return context.skip('needs TEST_CGROUP2, a command that runs its arguments on a cgroup v2 kernel')
  const file = path.join(out, 'script')
  writeFileSync(file, script)
  const { exitCode, all } = await execa(machine, ['bash', file], {
    ...{ reject: false, all: true, stdin: 'ignore' },
    env: { CGROUP2_OUT: out, CGROUP2_SECONDS: '700', CGROUP2_CPUS: '4' },
  })
  return { exitCode, all }
}

describe('on a cgroup v2 kernel', { timeout: 720_000 }, () => {
  // One machine for both users: its start and the check of equal work take minutes.
  it('caps sidecars where they bind, as root and as another user, to whom a subtree must be delegated, and cleans up', async context => {
    const script = `
      set -e
      ${KIT}
      for tool in pipy k6; do install -m 755 "$(node -e "
        const { findTool } = await import('./src/tools/find.js')
        const { loadPlanes } = await import('./src/dataplanes/registry.js')
        const { k6Tool } = await import('./src/loads/k6/index.js')
        const spec = [...Object.values(await loadPlanes()).flatMap(p => p.tool ?? []), k6Tool].find(s => s.name === '$tool')
        console.log((await findTool(spec, { fetch: null })).path)" --input-type=module)" /tmp/$tool; done
      export PIPY=/tmp/pipy K6=/tmp/k6 SIDECAR_BENCH_CACHE=/tmp/cache
      node src/cli.js ${BENCH} --profile quick --measure capacity --cpu 0.1,0.25 --out ${out}/root

      # What root has checked need not be checked again.
      chown -R nobody /tmp/cache
      setpriv --reuid=nobody --clear-groups env HOME=/tmp node src/cli.js bench --cpu 0.25 && exit 8 || [ $? = 1 ]
      mkdir /sys/fs/cgroup/delegated
      echo '+cpu +memory' >/sys/fs/cgroup/cgroup.subtree_control
      chown -R nobody /sys/fs/cgroup/delegated
      chmod 777 ${out}
      cat >/tmp/as-nobody <<'END'
      echo 0 >/sys/fs/cgroup/delegated/cgroup.procs
      cd /tmp/kit
      exec setpriv --reuid=nobody --clear-groups env HOME=/tmp node src/cli.js ${BENCH} --profile smoke --measure capacity --cpu 0.25 --out ${out}/user
END
      bash /tmp/as-nobody
      ls -d /sys/fs/cgroup/delegated/sidecar-bench.* 2>/dev/null && exit 9
      exit 0`
    const result = await onV2(script, context)
    expect(result?.exitCode, result?.all).toBe(0)

    const { manifest, records } = readRun(`${out}/root`)
    expect(manifest.machine).toMatchObject({ cgroupVersion: 2, capWay: 'v2' })
    const placement = { sidecar: [0], application: [1], generator: [2, 3] }
    expect(manifest.placements).toMatchObject({ 'ratings-pipy-0.1': placement, 'ratings-pipy-0.25': placement })
    const completed = records.filter(r => r.outcome === 'completed')
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
      // A window of 35 periods, cut anywhere: a period more at each edge is 6 %. Without a cap it would use four times as much.
      expect(sidecar.cpuCores / Number(trial.arm.cpuLimitCores)).toBeLessThan(1.06)
    }

    expect(result?.all).toMatch(
      /no CPU cap can be set here: .*run as root; or in a cgroup v2 subtree delegated to this user; or measure without a cap: --cpu none/,
    )
    const ofUser = readRun(`${out}/user`)
    expect(ofUser.manifest.machine.capWay).toBe('v2')
    expect(new Set(ofUser.records.map(r => r.trial.arm.plane))).toEqual(new Set(['pipy']))
    for (const { processes } of ofUser.records)
      expect(processes.find(p => p.role === 'sidecar')?.cpuLimitReadBackCores).toBe(0.25)
    expect(existsSync(`${out}/user/summary.json`)).toBe(true)
  })
})
