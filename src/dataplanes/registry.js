import { caddy } from './caddy/index.js'
import { envoy } from './envoy/index.js'
import { haproxy } from './haproxy/index.js'
import { nginx } from './nginx/index.js'
import { none } from './none/index.js'
import { pipy } from './pipy/index.js'
import { proxy } from './proxy/index.js'
import { ztunnel } from './ztunnel/index.js'

/** Every data plane of the kit, in the order of the reports. */
/** @import { DataPlane } from '../model/types.ts' @type {DataPlane[]} */
export const dataPlanes = [none, pipy, envoy, haproxy, nginx, caddy, ztunnel, proxy]
