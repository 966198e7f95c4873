/**
 * Ranks that compute together, with explicit reads and writes. Each rank fills its part of a coherent region, and then
 * every rank adds up the whole region. Run it after `npm run build`:
 *
 *     node dist/src/cli/main.js run -n 3 dist/examples/group-sum.js
 *
 * Rank 0 prints the sum of the numbers from 0 to 2,999.
 */
import { join } from 'aether-dsm'

const perRank = 1000

await using group = await join()
await using region = await group.openRegion('numbers', { size: 8 * perRank * group.size, coherence: 'mesi' })

// Explicit calls work everywhere. If userfaultfd is allowed, `region.float64` is the same memory as a typed array.
const mine = Float64Array.from({ length: perRank }, (_, index) => group.rank * perRank + index)
await region.write(8 * perRank * group.rank, mine)
await group.barrier()

const all = await region.read(0, new Float64Array(perRank * group.size))
const sum = all.reduce((total, value) => total + value, 0)
await group.barrier()
if (group.rank === 0) console.log(sum) // prints [0] 4498500
