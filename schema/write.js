// Writes the JSON Schemas of this folder from src/model/schemas.js: npm run schema, and npm pack (prepack).
import { writeFileSync } from 'node:fs'
import { renderSchemas } from './render.js'

for (const { file, content } of renderSchemas()) writeFileSync(new URL(`../${file}`, import.meta.url), content)
