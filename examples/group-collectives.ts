/**
 * Ranks that share a region and add up their results in one call. Each rank writes its part of the region. The
 * collective gives all ranks the sum, and says that all have written. Run it after `npm run build`:
 *
 *     node dist/src/cli/main.js run -n 3 dist/examples/group-collectives.js
 *
 * Rank 0 prints the sum of the squares from 0 to 1,535, and whether the whole region gives the same.
 */
import { join } from 'aether-dsm'

const perRank = 512
const add = (numbers: Float64Array) => numbers.reduce((sum, number) => sum + number, 0)

await using group = await join()
await using region = await group.openRegion('squares', { size: 8 * perRank * group.size, coherence: 'mesi' })

const mine = Float64Array.from({ length: perRank }, (_, index) => (group.rank * perRank + index) ** 2)
await region.write(8 * perRank * group.rank, mine)
const sum = await group.allReduce(Float64Array.of(add(mine)), 'sum')

const all = await region.read(0, new Float64Array(perRank * group.size))
if (group.rank === 0) console.log(sum[0], sum[0] === add(all)) // prints [0] 1206780160 true
