import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import path from 'node:path'

/**
 * A program `ssh` that runs commands on this machine, as on another: with programs, a cache and temporary files of its
 * own. Beside the hosts of REFUSALS it knows every name.
 */

const SSH = `#!/bin/sh
while [ "$1" != -- ]; do shift; done
case $2 in
  unknown.test) echo "Host key verification failed." >&2; exit 255 ;;
  closed.test) echo "sam@closed.test: Permission denied (publickey)." >&2; exit 255 ;;
  nowhere.test) echo "ssh: connect to host nowhere.test port 22: Connection refused" >&2; exit 255 ;;
esac
export PATH="$FAKE_THERE/bin:$PATH" XDG_CACHE_HOME="$FAKE_THERE/cache" TMPDIR="$FAKE_THERE/tmp"
export SSH_CONNECTION="127.0.0.1 1 127.0.0.1 22"
exec /bin/sh -c "$3"
`

/**
 * Puts it first on PATH.
 * @returns {{ there: string, addProgram: (name: string, script: string) => void, listTemporary: () => string[], close: () => void }}
 *   there: the folder that holds what the other machine has; addProgram: to its PATH
 */
export function installFakeSsh() {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'fake-ssh-'))
  const there = path.join(folder, 'there')
  for (const name of ['bin', 'cache', 'tmp']) mkdirSync(path.join(there, name), { recursive: true })
  const write = (/** @type {string} */ file, /** @type {string} */ text) => {
    writeFileSync(file, text)
    chmodSync(file, 0o755)
  }
  write(path.join(folder, 'ssh'), SSH)
  const before = process.env.PATH
  process.env.PATH = `${folder}:${before}`
  process.env.FAKE_THERE = there
  return {
    there,
    addProgram: (name, script) => write(path.join(there, 'bin', name), script),
    listTemporary: () => readdirSync(path.join(there, 'tmp')),
    close() {
      process.env.PATH = before
      delete process.env.FAKE_THERE
      rmSync(folder, { recursive: true, force: true })
    },
  }
}
