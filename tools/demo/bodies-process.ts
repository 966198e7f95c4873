/**
 * One rank of the demo's last part: moves its share of the bodies. Every rank reads all positions in a
 * copy of its own.
 * @module
 */
import { join } from 'aether-dsm'
import { type BodiesPlan, coordinates, placeBodies, runBodies } from './bodies.ts'
import { startProtocolMeter } from './member-meter.ts'
import { digestOf, printLine } from './printed-report.ts'

const { bodies, steps, coherence, pageBytes } = JSON.parse(process.argv[2]!) as BodiesPlan
await using group = await join()
const { rank, size } = group
const length = bodies * coordinates
const bytes = Math.ceil((length * Float64Array.BYTES_PER_ELEMENT) / pageBytes) * pageBytes
await using region = await group.openRegion('bodies', { size: 2 * bytes, coherence, pageSize: pageBytes })
const column = (byteOffset: number): Float64Array => region.view(Float64Array, { byteOffset, length })
const positions = [column(0), column(bytes)] as const
if (rank === 0) placeBodies(positions[0])
await group.barrier()
const meter = startProtocolMeter(group)
const share = { first: Math.floor((bodies * rank) / size), end: Math.floor((bodies * (rank + 1)) / size) }
const start = performance.now()
const last = runBodies(positions, share, steps, () => group.barrierSync())
const totalMs = performance.now() - start
const { pagesIn } = meter()
printLine({ type: 'bodies', rank, totalMs, pagesIn, digest: rank === 0 ? digestOf(last) : '' })
// The others' pages stay until rank 0 has read them.
await group.barrier()
