/** A node of the index; see main.ts. Its argument is the name of the index. */
import process from 'node:process'
import { join } from 'aether-dsm'
import { openIndex } from 'aether-dsm/index-service'

const name = process.argv[2]!
const group = await join({ name })
await openIndex(group, { name, replicas: 3 })
process.send!('ready')
// It serves clients until it is killed, or the example ends.
process.on('disconnect', () => process.exit())
