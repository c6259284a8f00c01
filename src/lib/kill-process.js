/**
 * Kills a process, or a process group. It does nothing if that has exited.
 * @param {number} pid negative: that of the leader of the group
 * @throws the system's error if it may not be killed
 */
export function killProcess(pid) {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code !== 'ESRCH') throw error
  }
}
