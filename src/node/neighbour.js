import { isMainThread, Worker, workerData } from 'node:worker_threads'

// `node neighbour.js CORES` is a busy neighbour: it burns CORES of CPU (1.5, for example, on two threads), until the process that
// started it has ended.

const PERIOD_MS = 10
const CHECK_MS = 500

if (isMainThread) burnCpu(Number(process.argv[2]))
else burnShare(workerData.share)

/**
 * Burns CPU on as many threads as needed, until the process that started this one has ended.
 * @param {number} cores such as 1.5
 */
function burnCpu(cores) {
  const threads = Math.ceil(cores)
  const options = { workerData: { share: cores / threads } }
  const workers = Array.from({ length: threads }, () => new Worker(new URL(import.meta.url), options))
  const starter = process.ppid
  process.title = `sidecar-bench neighbour ${cores}`
  const checking = setInterval(() => {
    if (process.ppid === starter) return
    clearInterval(checking)
    for (const worker of workers) worker.terminate()
  }, CHECK_MS)
}

/**
 * Spins for a share of each period of wall-clock time, and never returns. Time spent waiting for a CPU counts, and is not made up
 * for.
 * @param {number} share up to 1
 */
function burnShare(share) {
  const asleep = new Int32Array(new SharedArrayBuffer(4))
  const startMs = performance.now()
  for (let period = 0; ; period++) {
    const fromMs = startMs + period * PERIOD_MS
    while (performance.now() < fromMs + share * PERIOD_MS);
    const leftMs = fromMs + PERIOD_MS - performance.now()
    if (share < 1 && leftMs > 0) Atomics.wait(asleep, 0, 0, leftMs)
  }
}
