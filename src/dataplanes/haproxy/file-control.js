import { createFileControl } from '../../model/file-control.js'
import { renderFiles } from './config.js'
import { createSidecar } from './launch.js'

/** At SIGUSR2 HAProxy's master starts a new worker and hands it the listening sockets (Management Guide, 4). */
export const fileControl = createFileControl({
  createSidecar: options => {
    const spec = createSidecar(options)
    return { ...spec, argv: ['-W', ...spec.argv, '-p', locatePidFile(options.folder)] }
  },

  stage: ({ model, folder }) =>
    renderFiles(model, folder).map(({ name, content }) => ({ kind: 'move', file: `${folder}/${name}`, content })),

  commit: ({ folder }) => [{ kind: 'signal', pidFile: locatePidFile(folder), signal: 'SIGUSR2' }],
})

/** @param {string} folder */
function locatePidFile(folder) {
  return `${folder}/haproxy.pid`
}
