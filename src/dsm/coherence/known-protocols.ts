import type { Protocol } from './protocol.ts'
import { mesi } from './protocols/mesi.ts'

/** Every protocol by the name under which a region asks for it. One is added here, and is then served, explored, measured and documented. */
export const protocols: ReadonlyMap<string, Protocol> = new Map(
  [mesi as unknown as Protocol].map((protocol) => [protocol.name, protocol]),
)
