/**
 * Writes the record of the coherence protocols, tools/modelcheck/plays/<name>.txt, from their tables as they are:
 * `npm run build && node scripts/protocol-plays.mjs`, after a change of a table that is meant, or with names of
 * protocols. Ways that still lead to their cells are kept, so that a difference is what has changed, to be reviewed
 * like any other. `npm run modelcheck` fails for tables that do something else than is recorded. A way written into a
 * file by hand is kept, too.
 */
import { writeFileSync } from 'node:fs'
import { protocols } from '../dist/src/dsm/index.js'
import { formatPlays, recordedPlays, recordPlays } from '../dist/tools/modelcheck/index.js'

const names = process.argv.length > 2 ? process.argv.slice(2) : [...protocols.keys()]
for (const name of names) {
  const { plays, missing, untold } = recordPlays(protocols.get(name), recordedPlays(name))
  writeFileSync(new URL(`../tools/modelcheck/plays/${name}.txt`, import.meta.url), formatPlays(plays))
  console.log(`${name}: ${plays.length} plays`)
  if (untold.length > 0) console.log(`  nothing comes of: ${untold.join('; ')}`)
  if (missing.length > 0) {
    console.error(`  cells to which no way was found; write one into the file by hand: ${missing.join(', ')}`)
    process.exitCode = 1
  }
}
