/**
 * Writes the record of the coherence protocols, tools/modelcheck/plays/<name>.ts, from their tables as they are:
 * `npm run build && node scripts/protocol-plays.mjs`, after a change of a table that is meant, or with names of
 * protocols. Ways that still lead to their cells are kept, so that a difference is what has changed, to be reviewed
 * like any other. `npm run modelcheck` fails for tables that do something else than is recorded. A way written into a
 * file by hand is kept, too.
 */
import { writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { protocols } from '../dist/src/dsm/index.js'
import { formatPlays, recordedPlays, recordPlays } from '../dist/tools/modelcheck/index.js'

const names = process.argv.length > 2 ? process.argv.slice(2) : [...protocols.keys()]
for (const name of names) {
  const { plays, missing, untold } = recordPlays(protocols.get(name), recordedPlays(name))
  const file = new URL(`../tools/modelcheck/plays/${name}.ts`, import.meta.url)
  const head = '/** Written by `node scripts/protocol-plays.mjs`: see recorded-plays.ts. */'
  writeFileSync(fileURLToPath(file), `${head}\nexport const ${name}: string = \`\n${formatPlays(plays)}\`\n`)
  console.log(`${name}: ${plays.length} plays`)
  if (untold.length > 0) console.log(`  nothing comes of: ${untold.join('; ')}`)
  if (missing.length > 0) {
    console.error(`  cells to which no way was found; write one into the file by hand: ${missing.join(', ')}`)
    process.exitCode = 1
  }
}
