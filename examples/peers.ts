/**
 * Collective operations among a server and two clients: three processes, each connected to both others. The server
 * accepts the clients and tells each where the other one listens. Then every process sends a part of its array to every
 * other process in one call, and all add up an array. Run it after `npm run build`:
 *
 *     node dist/examples/peers.js
 *
 * The server, rank 0, prints what it has received and the sums, which every process has.
 */
import { fork } from 'node:child_process'
import { openPeers, type PeerAddress, type Peers } from 'aether-dsm/messaging'

const CLIENTS = 2
const address = '127.0.0.1'

async function serve(): Promise<void> {
  await using peers = openPeers({ number: 0, device: 'shm0' })
  const { port } = await peers.listen({ address })
  for (let number = 1; number <= CLIENTS; number += 1) fork(import.meta.filename, [String(number), String(port)])

  const clients = [await peers.accept(), await peers.accept()]
  const addresses: Record<number, PeerAddress> = {}
  for (const client of clients) addresses[client.number] = JSON.parse(String(Buffer.from(await client.receive())))
  for (const client of clients) await client.send(Buffer.from(JSON.stringify(addresses)))

  await exchange(peers)
}

async function join(number: number, port: number): Promise<void> {
  await using peers = openPeers({ number, device: 'shm0' })
  const own = await peers.listen({ address })
  const server = await peers.connect({ address, port })
  await server.send(Buffer.from(JSON.stringify(own)))
  const addresses = JSON.parse(String(Buffer.from(await server.receive()))) as Record<number, PeerAddress>

  // Of two clients, the one with the higher number connects and the other one accepts.
  for (let other = 1; other < number; other += 1) await peers.connect(addresses[other]!)
  for (let other = number + 1; other <= CLIENTS; other += 1) await peers.accept()
  await exchange(peers)
}

/** Every process makes the same collective calls in the same order. */
async function exchange(peers: Peers): Promise<void> {
  using group = peers.group()
  const { rank, size } = group

  const parts = Int32Array.from({ length: size }, (_, to) => 10 * rank + to)
  const received = await group.allToAll(parts, new Int32Array(size))
  if (rank === 0) console.log('rank 0 received', received.join(' ')) // prints rank 0 received 0 10 20

  const sums = await group.allReduce(Float64Array.of(rank, 0.5), 'sum')
  if (rank === 0) console.log('every rank has', sums.join(' ')) // prints every rank has 3 1.5

  await group.barrier()
}

const [number, port] = process.argv.slice(2).map(Number)
if (number === undefined) await serve()
else await join(number, port!)
