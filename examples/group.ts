/**
 * Ranks that compute pi together through a typed array. Each rank stores the sum of its terms of a series in its slot
 * of a region. After a barrier, rank 0 adds up the slots. Every rank has its own memory: a page moves to the rank that
 * needs it, unseen by the program. Run it after `npm run build`:
 *
 *     node dist/src/cli/main.js run -n 4 dist/examples/group.js
 *
 * Rank 0 prints the number of ranks, and pi to five places.
 */
import { join } from 'aether-dsm'

const terms = 4_000_000
const pageBytes = 4096

await using group = await join()
// One page for each rank: two ranks that write to one page would keep taking it from each other (false sharing).
await using region = await group.openRegion('sums', { size: group.size * pageBytes, coherence: 'mesi' })
const sums = region.float64
const slot = (rank: number) => (rank * pageBytes) / Float64Array.BYTES_PER_ELEMENT

// Leibniz: pi = 4 - 4/3 + 4/5 - 4/7 + …
let sum = 0
for (let k = group.rank; k < terms; k += group.size) sum += (k % 2 === 0 ? 4 : -4) / (2 * k + 1)
sums[slot(group.rank)] = sum

await group.barrier()
if (group.rank === 0) {
  const pi = Array.from({ length: group.size }, (_, rank) => sums[slot(rank)] ?? 0).reduce((a, b) => a + b)
  console.log(`${group.size} ranks: pi is about ${pi.toFixed(5)}`) // prints [0] 4 ranks: pi is about 3.14159
}
// No rank leaves while rank 0 may still read a page from it.
await group.barrier()
