// Fills the tables of the documentation from the code that they describe: npm run docs
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { fillTables } from './tables.js'

const folder = fileURLToPath(new URL('.', import.meta.url))
for (const name of readdirSync(folder, { encoding: 'utf8', recursive: true }).filter(file => file.endsWith('.md'))) {
  writeFileSync(`${folder}${name}`, fillTables(readFileSync(`${folder}${name}`, 'utf8')))
}
