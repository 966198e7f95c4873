/**
 * A thread of its own that listens for processes that want to join: the main thread may compute or block, and the agent
 * turns no event loop. It listens at every seed's address of this machine that is free, and tries again where another
 * member listens. So when that member ends, this one takes over.
 */
import { createServer, type Server, type Socket } from 'node:net'
import { endianness } from 'node:os'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { native } from '../../../native/index.ts'
import { ListenerHandshake } from '../../hosts/handshake.ts'
import { isRecord } from '../../hosts/messages.ts'
import { type ConnectionLimits, SealedConnection } from '../../hosts/sealed-connection.ts'
import type { DoorDemand, DoorNote } from './agent-door.ts'
import { DoorCaller } from './door-caller.ts'
import { DOOR_PROTOCOL, type DoorReply, ELSEWHERE, type GroupAddress } from './door-message.ts'
import { type GroupStatus, MOVED } from './introduction.ts'
import type { SeedPlace } from './seeds.ts'

/** What the worker is started with. */
export interface DoorStart {
  readonly address: GroupAddress
  readonly secret: Uint8Array
  readonly seeds: readonly SeedPlace[]
  readonly limits: ConnectionLimits
  readonly count: SharedArrayBuffer
  /** Rung after each question. */
  readonly bell: number
}

export type DoorOrder =
  /** Listen at the first seed's address. {@link DoorReport} tells whether it was free. */
  | { readonly type: 'begin' }
  /** There is a group: ask its agent at this port, and listen wherever that is possible. */
  | { readonly type: 'open'; readonly port: MessagePort }
  | { readonly type: 'close' }

export interface DoorReport {
  readonly type: 'listening'
  /** Undefined if it listens. */
  readonly trouble: string | undefined
}

/** How often it looks whether a seed's address is free. */
const RETRY_MS = 100
/** Connections at a time; more are refused. */
const CONNECTIONS_MAX = 64
/** How long another member may take to say what its view is. */
const OVERHEAR_MS = 5000
/** How long a process may take to join before another has its turn as well. */
const TURN_MS = 10_000

const start = workerData as DoorStart
const parent = parentPort!
const secret = Buffer.from(start.secret)
const count = new Int32Array(start.count)
const servers = new Map<number, Server>()
const connections = new Set<SealedConnection>()
const waiting = new Map<number, (answer: unknown) => void>()
/**
 * Processes that want to join, in order. The first has its turn until its connection ends: a view admits one, and the
 * others would have to begin again.
 */
const line: { readonly connection: SealedConnection; readonly begin: () => void }[] = []
let turn: NodeJS.Timeout | undefined
let agent: MessagePort | undefined
let retry: NodeJS.Timeout | undefined
let nextToken = 1
let isOverhearing = false
let isClosed = false

parent.on('message', (order: DoorOrder) => {
  if (order.type === 'begin') void listen(0).then((trouble) => parent.postMessage({ type: 'listening', trouble }))
  else if (order.type === 'open') open(order.port)
  else close()
})

function open(port: MessagePort): void {
  agent = port
  port.on('message', (demand: DoorDemand) => {
    if (demand === 'overhear') {
      void overhear()
      return
    }
    waiting.get(demand.token)?.(demand.answer)
    waiting.delete(demand.token)
  })
  const again = async (): Promise<void> => {
    for (const [index, { isHere }] of start.seeds.entries()) if (isHere && !servers.has(index)) await listen(index)
    if (!isClosed) retry = setTimeout(() => void again(), RETRY_MS)
  }
  void again()
}

/** Resolves with the reason why it does not listen there. */
function listen(index: number): Promise<string | undefined> {
  const { host, port } = start.seeds[index]!
  const server = createServer(greet)
  return new Promise((resolve) => {
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message))
    server.listen({ ...(host !== undefined && { host }), port, exclusive: true }, () => {
      server.on('error', () => {})
      if (isClosed) server.close()
      else servers.set(index, server)
      resolve(undefined)
    })
  })
}

function greet(socket: Socket): void {
  if (connections.size >= CONNECTIONS_MAX) {
    socket.destroy()
    return
  }
  let isGreeted = false
  const connection: SealedConnection = new SealedConnection(socket, new ListenerHandshake(secret), start.limits, {
    message: (value) => {
      if (!isRecord(value)) end(connection)
      else if (isGreeted) ask(connection, value)
      else isGreeted = hello(connection, value)
    },
    ended: () => forget(connection),
  })
  connections.add(connection)
}

function hello(connection: SealedConnection, asked: Readonly<Record<string, unknown>>): boolean {
  const { group, linkLayer, space } = start.address
  if (asked['protocol'] !== DOOR_PROTOCOL) return refuse(connection, 'it is another version of Aether')
  if (asked['endianness'] !== endianness())
    return refuse(connection, 'its machine has another byte order, and a group cannot mix these')
  if (asked['group'] !== group) return refuse(connection, `this address is of the group '${group}'`)
  if (asked['linkLayer'] !== linkLayer)
    return refuse(connection, `its device is of the kind ${linkLayer}; pass the seeds and the device that it has`)
  if (asked['space'] !== space) return refuse(connection, `this process does not see it, and ${ELSEWHERE}`)
  connection.admit()
  reply(connection, { type: 'welcome' })
  return true
}

function ask(connection: SealedConnection, { token, question }: Readonly<Record<string, unknown>>): void {
  if (typeof token !== 'number') {
    end(connection)
    return
  }
  const own = nextToken++
  const done = (answer: unknown): void => reply(connection, { type: 'answer', token, answer })
  if (agent === undefined) {
    done(null)
    return
  }
  waiting.set(own, done)
  const begin = (): void => {
    tell({ token: own, question })
  }
  const isFirst = isRecord(question) && question['ask'] === 'status'
  if (!isFirst) begin()
  else if (line.push({ connection, begin }) === 1) nextTurn()
}

function tell(note: DoorNote): void {
  agent?.postMessage(note)
  Atomics.add(count, 0, 1)
  native.ringPipe(start.bell)
}

/** What the members say that listen at other seeds. */
async function overhear(): Promise<void> {
  if (isOverhearing) return
  isOverhearing = true
  const others = start.seeds.filter((_, index) => !servers.has(index))
  await Promise.all(others.map(overhearAt))
  isOverhearing = false
}

async function overhearAt({ host = 'localhost', port }: SeedPlace): Promise<void> {
  let late: NodeJS.Timeout | undefined
  try {
    const caller = await DoorCaller.connect({ host, port }, start.address, secret, start.limits)
    late = setTimeout(() => caller.close(), OVERHEAR_MS)
    const status = (await caller.ask({ ask: 'status' })) as GroupStatus | typeof MOVED | null
    caller.close()
    if (status !== null && status !== MOVED && !isClosed) tell({ overheard: status.view })
  } catch {
    // It does not answer. It will be asked again.
  } finally {
    clearTimeout(late)
  }
}

function nextTurn(): void {
  clearTimeout(turn)
  const [first] = line
  if (first === undefined) return
  first.begin()
  turn = setTimeout(() => leaveLine(first.connection), TURN_MS)
}

function leaveLine(connection: SealedConnection): void {
  const at = line.findIndex((each) => each.connection === connection)
  if (at < 0) return
  line.splice(at, 1)
  if (at === 0) nextTurn()
}

function forget(connection: SealedConnection): void {
  connections.delete(connection)
  leaveLine(connection)
}

function reply(connection: SealedConnection, message: DoorReply): void {
  connection.send(message)
}

function refuse(connection: SealedConnection, reason: string): false {
  reply(connection, { type: 'refused', reason })
  end(connection)
  return false
}

function end(connection: SealedConnection): void {
  forget(connection)
  connection.close()
}

function close(): void {
  isClosed = true
  clearTimeout(retry)
  clearTimeout(turn)
  for (const server of servers.values()) server.close()
  for (const connection of connections) connection.close()
  agent?.close()
  parent.close()
}
