/**
 * The shortest paths, each with what is made while nobody profiles, once more, and with what is made while somebody
 * does, in one process and in turns: so memory, compiled code and the machine's moods are the same for all:
 * `paths.mjs FIRST`, with the number of the way that is made first.
 */
import { fork } from 'node:child_process'
import { once } from 'node:events'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import { connectEndpoint, listenEndpoints } from '../../dist/src/messaging/index.js'
import { native } from '../../dist/src/native/index.js'
import { setProfiling } from '../../dist/src/profiling/index.js'
import { openChannel } from '../../dist/src/rpc/index.js'
import { Access, CompletionBatch, openDevice } from '../../dist/src/verbs/index.js'
import { answer, endWithStarter } from './process.mjs'
import { playRound } from './ratios.mjs'
import { isProfiled, shortCalls, ways, waysFrom } from './service.mjs'

endWithStarter()
const device = 'shm0'
const address = '127.0.0.1'
const BYTES = 32
const UNDER_WAY = 64
const order = { item: 'lamp', count: 3, price: 12.5 }
const data = Buffer.alloc(BYTES, 1)
const access = Access.LocalWrite | Access.RemoteRead | Access.RemoteWrite | Access.RemoteAtomic
const batch = new CompletionBatch(16)

/** Operations one after the other on a queue pair that is connected to one of the same process. */
function requests() {
  const domain = openDevice(device).createProtectionDomain()
  const memory = domain.allocate(8192, access)
  const queue = domain.device.createCompletionQueue({ depth: 64 })
  const create = () => domain.createQueuePair({ type: 'rc', sendQueue: queue, receiveQueue: queue })
  const [one, other] = [create(), create()]
  one.connect(other.endpoint)
  other.connect(one.endpoint)
  const local = memory.subarray(0, BYTES)
  const remote = { address: memory.address + 4096, key: memory.remoteKey }
  const write = one.prepareWrite({ local, remote })
  const send = one.prepareSend({ local })
  const receive = other.prepareReceive({ local: memory.subarray(64, 64 + BYTES) })
  return {
    'WRITE, post and poll': (count) => {
      for (let turn = 0; turn < count; turn += 1) {
        write.post(turn)
        while (queue.poll(batch) === 0);
      }
    },
    'SEND to RECV, post and poll': (count) => {
      for (let turn = 0; turn < count; turn += 1) {
        receive.post(turn)
        send.post(turn)
        for (let done = 0; done < 2; ) done += queue.poll(batch)
      }
    },
  }
}

/** A message of an endpoint and its arrival, both ends in this thread. */
async function messages() {
  let accepted
  let arrived = 0
  const listener = await listenEndpoints({ device, address, accept: (endpoint) => (accepted = endpoint) })
  const from = await connectEndpoint({ device, address, port: listener.port })
  while (accepted === undefined) await new Promise(setImmediate)
  accepted.handlers = { receive: () => void arrived++ }
  return {
    'message of an endpoint': (count) => {
      for (const until = arrived + count; arrived < until; ) {
        // The room that is given back is found by looking.
        if (!from.trySend(data)) from.poll()
        accepted.poll()
      }
    },
  }
}

/** Calls of the server in the other process. */
async function calls(port) {
  const channel = openChannel({ device, address, port })
  await channel.ready()
  const client = channel.client(shortCalls)
  return {
    rest: () => client.rest(),
    'blocking call': (count) => {
      for (let turn = 0; turn < count; turn += 1) client.echoSync(data)
    },
    'blocking call with an object': (count) => {
      for (let turn = 0; turn < count; turn += 1) client.sumSync(order)
    },
    [`call, ${UNDER_WAY} under way`]: async (count) => {
      const lane = async () => {
        for (let turn = 0; turn < count; turn += UNDER_WAY) await client.echo(data)
      }
      await Promise.all(Array.from({ length: UNDER_WAY }, lane))
    },
  }
}

const first = process.argv[2] ?? '0'
const server = fork(fileURLToPath(new URL('./server.mjs', import.meta.url)), [first])
const [ports] = await once(server, 'message')
const paths = new Map()
let rest
for (const way of waysFrom(Number(first))) {
  setProfiling(isProfiled(way))
  const { rest: ofWay, ...called } = await calls(ports[way])
  rest = ofWay
  paths.set(way, { ...requests(), ...(await messages()), ...called })
}
const names = Object.keys(paths.get('off'))

/** How many of each take about so long. */
async function countsOf(ns) {
  const counts = new Map()
  for (const name of names) {
    const path = paths.get('off')[name]
    await path(5_000)
    const began = native.monotonicNs()
    await path(5_000)
    counts.set(name, Math.max(UNDER_WAY, Math.round((ns * 5_000) / (native.monotonicNs() - began))))
  }
  return counts
}

async function played(rounds, batchMs) {
  server.send('look')
  const counts = await countsOf(batchMs * 1e6)
  const all = []
  for (let round = 0; round < rounds; round += 1) {
    const found = new Map()
    // Path by path, so that what is compared lies milliseconds apart.
    for (const name of names) {
      const play = async (way) => {
        const count = counts.get(name)
        const began = native.monotonicNs()
        await paths.get(way)[name](count)
        return { [name]: (native.monotonicNs() - began) / count }
      }
      for (const [figure, ofWays] of await playRound(ways, round, play)) found.set(figure, [...ofWays])
    }
    all.push([...found])
  }
  await rest()
  return all
}

answer(({ rounds, batchMs }) => played(rounds, batchMs))
process.send('ready')
