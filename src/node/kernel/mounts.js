/**
 * Where the cgroup hierarchies are mounted: v1 by controller, v2 the first.
 * @param {string} mountinfo the text of /proc/self/mountinfo, proc(5)
 */
export function parseMounts(mountinfo) {
  const v1 = new Map()
  /** @type {string | null} */
  let v2 = null
  for (const line of mountinfo.split('\n').filter(Boolean)) {
    const [left, right = ''] = line.split(' - ')
    const mountPoint = left.split(' ')[4]
    const [type, , options = ''] = right.split(' ')
    if (mountPoint === undefined) continue
    if (type === 'cgroup2') v2 ??= mountPoint
    if (type === 'cgroup') for (const option of options.split(',')) v1.set(option, mountPoint)
  }
  return { v1, v2 }
}
