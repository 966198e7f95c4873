import { mesi } from './mesi.ts'
import type { Protocol } from './protocol.ts'

/** Every protocol by the name under which a region asks for it. One is added here, and is then served, explored, measured and documented. */
export const protocols: ReadonlyMap<string, Protocol> = new Map(
  [mesi as unknown as Protocol].map((protocol) => [protocol.name, protocol]),
)
