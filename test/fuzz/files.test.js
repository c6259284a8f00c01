import { TEXT_PARSERS } from './text-parsers.js'
import { TRAFFIC_PARSERS } from './traffic-parsers.js'
import { tryParsers } from './try-parsers.js'

tryParsers('files', [...TEXT_PARSERS, ...TRAFFIC_PARSERS])
