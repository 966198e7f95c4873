import process from 'node:process'
import { join } from '../../../src/public/index.ts'
import { connectIndex, type Index, type OpenIndexOptions, openIndex } from '../../../src/public/index-service.ts'

let names = 0
export const freshName = (): string => {
  names += 1
  return `alone-${process.pid}-${names}`
}

/** An index of one node, in this process, and a client of it. */
export async function alone(
  options: Partial<OpenIndexOptions>,
  use: (node: Index, client: Index) => Promise<void>,
): Promise<void> {
  const name = freshName()
  await using group = await join({ rank: 0, size: 1, rendezvous: `local:${name}` })
  await using node = await openIndex(group, { name, ...options })
  await using client = await connectIndex(name)
  await use(node, client)
}
