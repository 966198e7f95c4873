/**
 * The server of the library, in its own process. `main.ts` starts it; you can also start it yourself:
 *
 *     node dist/examples/rpc/server.js [DEVICE ADDRESS]
 *
 * It prints the port on which it listens. When its standard input ends, it completes the calls in progress and exits.
 */
import process from 'node:process'
import { createServer, type RdmaBuffer } from 'aether-dsm/rpc'
import { library } from './contract.ts'

const [device = 'shm0', address = '127.0.0.1'] = process.argv.slice(2)
const copies = new Map([
  ['Dune', 2],
  ['Emma', 1],
])
/** Scans are kept in registered memory, so that sending one again does not register it again. */
const scans = new Map<string, RdmaBuffer>()

const server = createServer().serve(library, {
  borrow({ title }) {
    const left = copies.get(title) ?? 0
    if (left === 0) throw library.error('lent', { until: 'Friday' }, `no copy of ${title} is here`)
    copies.set(title, left - 1)
    return { title, copies: left - 1 }
  },
  *catalogue() {
    for (const [title, left] of copies) yield { title, copies: left }
  },
  async donate(books) {
    let count = 0
    for await (const { title, copies: more } of books) {
      copies.set(title, (copies.get(title) ?? 0) + more)
      count += more
    }
    return count
  },
  async *ask(questions) {
    for await (const title of questions) yield `${title}: ${copies.get(title) ?? 'unknown'}`
  },
  async keepScan({ title }, { source, allocate }) {
    const scan = allocate(source.length)
    try {
      await source.read(scan)
    } catch (error) {
      await scan.release()
      throw error
    }
    const earlier = scans.get(title)
    scans.set(title, scan)
    await earlier?.release()
  },
  async fetchScan({ title }, { target }) {
    const scan = scans.get(title)
    if (scan === undefined) return 0
    await target.write(scan)
    return scan.length
  },
})

const { port } = await server.listen({ device, address })
process.stdout.write(`${port}\n`)
process.stdin.resume()
process.stdin.on('end', () => void server.drain())
