import { z } from 'zod'
import { SCHEMAS } from '../src/model/schemas.js'

/** The JSON Schemas (draft 2020-12) of what a run leaves on disk, as the files of this folder. */
export function renderSchemas() {
  return Object.entries(SCHEMAS).map(([name, schema]) => ({
    file: `schema/${name}.schema.json`,
    content: `${JSON.stringify(z.toJSONSchema(schema, { reused: 'ref', io: 'input' }), null, 2)}\n`,
  }))
}
