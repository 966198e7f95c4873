/**
 * Points that are sorted into clusters by k-means. Run it after `npm run build`:
 *
 *     node dist/examples/arrays/k-means.js
 *
 * It prints whether plain loops give the same clusters.
 */
import { openArrays } from 'aether-dsm/arrays'

const [count, clusters, rounds] = [600, 3, 10]

const xp = await openArrays()
const stream = xp.random.generator(7)
const middles = xp.asarray([0, 5, 10])
const noise = xp.random.standardNormal(stream, [count, 2])
const groups = xp.remainder(xp.arange(count), clusters).astype(xp.int64)
const points = noise.add(xp.expandDims(xp.take(middles, groups), 1))

/** For each point the number of the centre that is nearest. */
let centres = points.slice(`:${clusters}`).copy()
for (let round = 0; round < rounds; round += 1) {
  const distances = xp.sum(xp.square(xp.expandDims(points, 1).subtract(centres)), { axis: 2 })
  const nearest = xp.argmin(distances, { axis: 1 })
  const means = Array.from({ length: clusters }, (_, cluster) => points.at(nearest.equal(cluster)).mean({ axis: 0 }))
  centres = xp.stack(means)
}

const plain = points.toArray() as [number, number][]
let others = plain.slice(0, clusters)
for (let round = 0; round < rounds; round += 1) {
  const sums = others.map(() => [0, 0, 0] as [number, number, number])
  for (const [x, y] of plain) {
    const distances = others.map(([a, b]) => (x - a) ** 2 + (y - b) ** 2)
    const sum = sums[distances.indexOf(Math.min(...distances))]!
    sum[0] += x
    sum[1] += y
    sum[2] += 1
  }
  others = sums.map(([x, y, size]) => [x / size, y / size])
}
const difference = centres.subtract(xp.asarray(others)).abs().max().item() as number
console.log(difference < 1e-12) // prints true
