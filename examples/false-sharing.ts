/**
 * False sharing, and its remedy. Two ranks count in one page, each in its own bytes, and the adviser reports why the
 * page bounces between them. Then they do the same with a page for each rank. Run it after `npm run build`:
 *
 *     node dist/src/cli/main.js run -n 2 dist/examples/false-sharing.js --report
 *
 * It prints the kind of the advice, where each rank writes and the remedy. With a page for each rank there is no
 * advice, and pages are taken away less than a tenth as often. `--report` adds both reports and the figures.
 */
import process from 'node:process'
import { setImmediate as othersTurn } from 'node:timers/promises'
import { type Advice, adviceText, join } from 'aether-dsm'

const pageBytes = 4096
/** The maximum: counting stops when there is enough to see, and how soon that is depends on the machine. */
const rounds = 300
const steps = 200

await using group = await join()
const { rank, size } = group

/**
 * Every rank adds to its own counter, `strideBytes` from the next rank's, until `isEnough` returns true. Returns the
 * advice, and how often a page was taken away from this rank for each thousand additions.
 */
async function count(name: string, strideBytes: number, isEnough: (advice: Advice) => boolean) {
  await using region = await group.openRegion(name, { coherence: 'directory', size: size * pageBytes, advise: true })
  let done = 0
  for (let round = 0; round < rounds; round += 1) {
    await group.barrier()
    for (let step = 0; step < steps; step += 1, done += 1) {
      await region.fetchAdd(rank * strideBytes, 1n)
      await othersTurn()
    }
    await group.barrier()
    // No rank writes now, so every rank gets the same advice and takes the same branch.
    if (isEnough(await region.advice())) break
  }
  const figures = group
    .profile()
    .counters()
    .find(({ label, name: of }) => of === 'dsm.pages' && label === name)
  const advice = await region.advice()
  await group.barrier()
  return { advice, taken: (1000 * (figures?.values['invalidations'] ?? 0)) / done }
}

const bad = await count(
  'side-by-side',
  64,
  ({ pages }) => pages[0]?.writers.length === size && pages[0].kind !== 'unclear',
)
const mended = await count('a-page-each', pageBytes, () => true)

if (rank === 0) {
  const [page] = bad.advice.pages
  console.log(page?.kind) // prints [0] false-sharing
  console.log(page?.writers.map(({ ranges }) => ranges[0]?.begin)) // prints [0] [ 0, 64 ]
  console.log(page?.remedy.split(',')[0]) // prints [0] pad to 4 KiB
  console.log(mended.advice.pages.length) // prints [0] 0
  console.log(bad.taken > 10 * mended.taken) // prints [0] true
  if (process.argv.includes('--report')) {
    console.log(`${adviceText(bad.advice)}\n${adviceText(mended.advice)}`)
    console.log(`taken away from rank 0, of 1,000 additions: ${bad.taken.toFixed(1)}, then ${mended.taken.toFixed(1)}`)
  }
}
await group.barrier()
