// Writes the tables of docs/*.md that the reports print too, from the code that prints them: npm run docs
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { fillTables } from './tables.js'

const folder = fileURLToPath(new URL('.', import.meta.url))
for (const name of readdirSync(folder).filter(file => file.endsWith('.md'))) {
  writeFileSync(`${folder}${name}`, fillTables(readFileSync(`${folder}${name}`, 'utf8')))
}
