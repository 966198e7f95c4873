/**
 * Writes the pages of the coherence protocols, docs/protocols/<name>.md, from their tables:
 * `node scripts/protocol-pages.mjs`, which is part of `npm run docs`. A test checks that what is there is current.
 */
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { protocols } from '../dist/src/dsm/index.js'
import { protocolPage } from '../dist/tools/protocol-pages/index.js'

const folder = fileURLToPath(new URL('../docs/protocols', import.meta.url))
mkdirSync(folder, { recursive: true })
for (const name of readdirSync(folder)) if (!protocols.has(name.replace(/\.md$/, ''))) rmSync(join(folder, name))
for (const protocol of protocols.values()) writeFileSync(join(folder, `${protocol.name}.md`), protocolPage(protocol))
