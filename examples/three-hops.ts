/**
 * A write of three hops, to look at in a trace: rank 1 is the page's home, rank 2 has written it last, and rank 0 wants
 * to write it.
 *
 *     node dist/src/cli/main.js run -n 3 --trace three-hops.trace.json dist/examples/three-hops.js
 */
import { join } from 'aether-dsm'

await using group = await join()
const region = await group.openRegion('hits', { size: 4096, coherence: 'mesi', placement: () => 1 })
const text = new TextEncoder()

if (group.rank === 2) await region.write(0, text.encode('plugh'))
await group.barrier()
if (group.rank === 0) {
  await region.write(5, text.encode(' xyzzy'))
  const bytes = await region.read(0, new Uint8Array(11))
  console.log(new TextDecoder().decode(bytes)) // prints [0] plugh xyzzy
}
await group.barrier()
