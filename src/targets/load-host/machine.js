import { BenchError } from '../../lib/errors.js'

/** @import { Connection } from './connection.js' */

const NEEDED = ['date', 'mktemp', 'nproc', 'setsid', 'sha256sum', 'tar']

// A line a fact. What is missing says nothing.
const ASK = `
echo system=$(uname -s)
echo kernel=$(uname -sr)
echo architecture=$(uname -m)
echo cpus=$(nproc)
echo hostCpus=$(grep -c "^cpu[0-9]" /proc/stat)
echo cpuModel=$(grep -m1 "^model name" /proc/cpuinfo | cut -d: -f2)
echo memoryKib=$(grep -m1 "^MemTotal" /proc/meminfo | tr -dc 0-9)
echo governor=$(cat /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor 2>/dev/null)
echo client=$SSH_CONNECTION
for name in ${NEEDED.join(' ')}; do command -v $name >/dev/null || echo missing=$name; done
`

/** Facts for the manifest. @typedef {Awaited<ReturnType<typeof readMachineThere>>['machine']} LoadMachine */

/** @param {Pick<Connection, 'run' | 'host'>} connection @throws {BenchError} where no load can be made there */
export async function readMachineThere({ run, host }) {
  const { stdout } = await run(['/bin/sh', '-c', ASK])
  const facts = [...stdout.matchAll(/^(\w+)=(.*)$/gm)].map(([, name, value]) => ({ name, value: value.trim() }))
  const factOf = (/** @type {string} */ wanted) => facts.find(({ name }) => name === wanted)?.value || null
  if (factOf('system') !== 'Linux')
    throw new BenchError(`--load-host ${host}: it is ${factOf('system') ?? 'an unknown system'}, and Linux is needed`)
  const missing = facts.filter(({ name }) => name === 'missing').map(({ value }) => value)
  if (missing.length > 0) {
    throw new BenchError(
      `--load-host ${host}: no ${missing.join(', ')} on the PATH that ssh gives there: apt install coreutils util-linux tar`,
    )
  }
  return {
    machine: {
      host,
      kernel: factOf('kernel'),
      architecture: factOf('architecture'),
      cpuModel: factOf('cpuModel') ?? 'unknown',
      cpus: Number(factOf('cpus')),
      hostCpus: Number(factOf('hostCpus')),
      memoryBytes: Number(factOf('memoryKib')) * 1024,
      governor: factOf('governor'),
    },
    /** The address that it sees this machine at. */
    seenAs: factOf('client')?.split(' ')[0] ?? null,
  }
}
