import { probeAccess } from './access.js'
import { probeCallers } from './callers.js'
import { probeAnswers, probeLoneRetry, probePooling } from './probe.js'
import { startUpstreams } from './upstreams.js'

/** Procedures of the equal-work check beside the services. They take and give plain data. @import { Probed } from './probe.js' */

/** Makes the procedures, each of one argument or none. */
export function createParityProber() {
  /** @type {(Probed & Pick<import('./upstreams.js').Upstreams, 'close'>) | null} */
  let rig = null
  const opened = () => {
    if (rig === null) throw new Error('the rig is not open')
    return rig
  }
  return {
    /** @param {{ address: string, ca: string } & Pick<Probed, 'configuration' | 'credentials' | 'sidecars'>} args */
    async open({ address, ca, configuration, credentials, sidecars }) {
      const { tls, protocol, group } = configuration
      const upstreams = await startUpstreams({ address, ca, credentials, tls, protocol, group })
      rig = { ...upstreams, configuration, credentials, sidecars }
    },
    probeAnswers: () => probeAnswers(opened()),
    probeLoneRetry: () => probeLoneRetry(opened()),
    probeAccess: () => probeAccess(opened()),
    probeCallers: () => probeCallers(opened()),
    probePooling: () => probePooling(opened()),
    close() {
      rig?.close()
      rig = null
    },
  }
}
