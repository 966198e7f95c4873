import type { Protocol } from './protocol.ts'
import { directory } from './protocols/directory.ts'
import { mesi } from './protocols/mesi.ts'
import { moesi } from './protocols/moesi.ts'
import { token } from './protocols/token.ts'

const all: readonly Protocol[] = [mesi, moesi, directory, token]

/**
 * Every protocol by the name under which a region asks for it. One is added here, and is then served, explored,
 * measured and documented.
 */
export const protocols: ReadonlyMap<string, Protocol> = new Map(all.map((protocol) => [protocol.name, protocol]))
