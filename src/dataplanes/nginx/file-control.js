import { createFileControl } from '../../model/file-control.js'
import { renderConfig } from './config.js'
import { createSidecar } from './launch.js'

/** At SIGHUP new workers take the listening sockets, and the old ones end with their last request. */
export const fileControl = createFileControl({
  createSidecar,
  stage: ({ model, folder }) => [{ kind: 'move', file: `${folder}/nginx.conf`, content: renderConfig(model) }],
  commit: ({ folder }) => [{ kind: 'signal', pidFile: `${folder}/nginx.pid`, signal: 'SIGHUP' }],
})
