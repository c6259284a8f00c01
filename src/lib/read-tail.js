import { open } from 'node:fs/promises'

const TAIL_BYTES = 64 * 1024

/** The end of a file that may have grown to any size. @param {string} file */
export async function readTail(file, bytes = TAIL_BYTES) {
  const handle = await open(file)
  try {
    const { size } = await handle.stat()
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(bytes), 0, bytes, Math.max(0, size - bytes))
    return buffer.toString('utf8', 0, bytesRead)
  } finally {
    await handle.close()
  }
}
