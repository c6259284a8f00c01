import { probeAccess } from './access.js'
import { probeCallers } from './callers.js'
import { probeAnswers, probeLoneRetry, probePooling } from './probe.js'
import { startUpstreams } from './upstreams.js'

/** Procedures of the equal-work check that run beside the services. They take and return plain data. @import { Probed } from './probe.js' */

/** Creates the procedures of one rig, each of one argument or none. All but `open` and `close` throw if the rig is not open. */
export function createParityProber() {
  /** @type {(Probed & Pick<import('./upstreams.js').Upstreams, 'close'>) | null} */
  let rig = null
  const opened = () => {
    if (rig === null) throw new Error('the rig is not open')
    return rig
  }
  return {
    /** Starts the upstreams. @param {{ address: string, ca: string } & Pick<Probed, 'configuration' | 'credentials' | 'sidecars'>} args address: to listen at; ca: PEM */
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
