import { readFileSync } from 'node:fs'
import os from 'node:os'
import { execa } from 'execa'
import { ROOT } from './paths.js'

/**
 * Facts about this machine for the manifest; what it does not tell is null.
 * @returns {{ kernel: string, architecture: string, cpuModel: string, cpus: number, memoryBytes: number,
 *   governor: string | null, node: string }}
 */
export function readMachine() {
  const cpus = os.cpus()
  return {
    kernel: `${os.type()} ${os.release()}`,
    architecture: os.arch(),
    cpuModel: cpus[0]?.model.trim() ?? 'unknown',
    cpus: os.availableParallelism(),
    memoryBytes: os.totalmem(),
    governor: readText('/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor'),
    node: process.version,
  }
}

/** The kit's version and the state of its checkout (null outside of git). */
export async function readKit() {
  const { version } = JSON.parse(readFileSync(`${ROOT}/package.json`, 'utf8'))
  const git = await execa('git', ['describe', '--always', '--dirty', '--abbrev=12'], { cwd: ROOT, reject: false })
  return { version, git: git.exitCode === 0 ? git.stdout : null }
}

/** Clock ticks of all CPUs so far: idle (with iowait), stolen, all. From /proc/stat, proc(5). */
export function readHostCpu() {
  const [user, nice, system, idle, iowait, irq, softirq, steal] = readFileSync('/proc/stat', 'utf8')
    .split('\n', 1)[0]
    .trim()
    .split(/\s+/)
    .slice(1)
    .map(Number)
  return { idle: idle + iowait, steal, total: user + nice + system + idle + iowait + irq + softirq + steal }
}

/** @param {string} file */
function readText(file) {
  try {
    return readFileSync(file, 'utf8').trim()
  } catch {
    return null
  }
}
