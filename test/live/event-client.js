import http from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'

/**
 * A browser's EventSource, as far as tests need it.
 * @param {string} url of the page @param {{ isReading?: boolean }} [options]
 */
export async function listen(url, { isReading = true } = {}) {
  /** @type {{ name: string, data: any }[]} */
  const events = []
  let text = ''
  let isEnded = false
  const request = http.get(`${url}events`, { agent: false })
  /** @type {http.IncomingMessage} */
  const response = await new Promise((resolve, reject) => request.on('response', resolve).on('error', reject))
  request.on('error', () => {})
  response.on('error', () => {})
  response.on('close', () => {
    isEnded = true
  })
  const read = (/** @type {string} */ chunk) => {
    text += chunk
    const messages = text.split('\n\n')
    text = /** @type {string} */ (messages.pop())
    for (const message of messages) {
      const fields = Object.fromEntries(message.split('\n').map(line => line.split(/: (.*)/s, 2)))
      events.push({ name: fields.event ?? message, data: fields.data && JSON.parse(fields.data) })
    }
  }
  if (isReading) response.setEncoding('utf8').on('data', read)
  return {
    events,
    response,
    names: () => events.map(({ name }) => name),
    isEnded: () => isEnded,
    /** @param {string} name @param {(data: any) => boolean} [isWanted] */
    async waitFor(name, isWanted = () => true) {
      const find = () => events.find(event => event.name === name && isWanted(event.data))
      await until(() => find() !== undefined, `an event ${name}; there were: ${events.map(e => e.name)}`)
      return find()?.data
    },
    destroy() {
      request.destroy()
    },
  }
}

/** @param {() => boolean | Promise<boolean>} isTrue @param {string} what is waited for */
export async function until(isTrue, what) {
  const deadline = performance.now() + 30_000
  while (!(await isTrue())) {
    if (performance.now() > deadline) throw new Error(`waited 30 s for ${what}`)
    await delay(5)
  }
}
