import { readdirSync } from 'node:fs'
import path from 'node:path'
import { openCountersV1 } from '../kernel/cgroup-v1.js'
import { openCountersV2 } from '../kernel/cgroup-v2.js'
import { parseMounts } from '../kernel/mounts.js'

/**
 * Opens the counters of a container. The kubelet's cgroup drivers name its folder differently (`<id>` under cgroupfs,
 * `cri-containerd-<id>.scope` under systemd), and the folders above it too; the container's id is in both.
 * @param {{ id: string, root: string, mountinfo: string }} options root: where the node's /sys/fs/cgroup is;
 *   mountinfo: of /proc/self/mountinfo
 * @returns {import('../kernel/counter-file.js').Counters | null} null: the node has no such container
 */
export function findContainer({ id, root, mountinfo }) {
  const below = mountinfo.split('\n').filter(line => line.split(' ')[4]?.startsWith(root))
  const { v1, v2 } = parseMounts(below.join('\n'))
  if (['cpu', 'cpuacct', 'memory'].every(name => v1.has(name))) {
    const [cpu, cpuacct, memory] = ['cpu', 'cpuacct', 'memory'].map(name => findFolder(v1.get(name), id))
    return cpu && cpuacct && memory ? openCountersV1({ cpu, cpuacct, memory }) : null
  }
  const folder = v2 === null ? null : findFolder(v2, id)
  return folder === null ? null : openCountersV2(folder)
}

/**
 * The folder whose name carries a container's id, nearest first.
 * @param {string} root
 * @param {string} id
 * @returns {string | null}
 */
export function findFolder(root, id) {
  let level = [root]
  while (level.length > 0) {
    const next = []
    for (const folder of level) {
      for (const name of listFolders(folder)) {
        if (name.includes(id)) return path.join(folder, name)
        next.push(path.join(folder, name))
      }
    }
    level = next
  }
  return null
}

/** @param {string} folder */
function listFolders(folder) {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter(entry => entry.isDirectory())
      .map(entry => entry.name)
  } catch {
    return []
  }
}
