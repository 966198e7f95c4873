/** The kernel's software iWARP, by the ibverbs provider, and as the peer of a tcp device. */
import assert from 'node:assert/strict'
import { execFileSync, spawnSync } from 'node:child_process'
import process from 'node:process'
import { before, test } from 'node:test'
import {
  type Connection,
  type ConnectOptions,
  connect,
  type Listener,
  type ListenOptions,
  listen,
} from '../../../src/cm/index.ts'
import { Access, type MemoryRegion, type QueuePair, QueuePairState } from '../../../src/verbs/index.ts'
import { startProgram } from '../support/program.ts'
import { RpingEnd, whenListening } from '../support/rping.ts'
import { makeSiw, otherAddress, siwAddress } from './support/siw.ts'

const PATIENCE = { timeoutMs: 60_000 }
const ALL_RIGHTS = Access.LocalWrite | Access.RemoteRead | Access.RemoteWrite
const MEGABYTE = 1 << 20
/** READs that are under way at once are more than one end allows, so that some wait. */
const READS = 24
const MESSAGES = 10
const MESSAGE_BYTES = 100
const UCMATOSE = ['-c', '2', '-C', String(MESSAGES), '-S', String(MESSAGE_BYTES)]

/** The two devices that meet siw here: itself by libibverbs, and ours. */
const SIW = { device: 'siw0' }
const TCP = { device: 'tcp-veth0', iwarpPeer: true }
const devices = [SIW, TCP]
type Ends = Pick<ConnectOptions & ListenOptions, 'device' | 'iwarpPeer'>

before(makeSiw)

/** What the kernel holds of each kind on siw0. */
const resources = (): string =>
  execFileSync('rdma', ['resource', 'show', 'siw0'], { encoding: 'utf8' }).replace(/ ctx \d+/, '')

async function settlesTo(expected: string): Promise<void> {
  for (let left = 200; left > 0 && resources() !== expected; left -= 1)
    await new Promise((resolve) => setTimeout(resolve, 50))
  assert.equal(resources(), expected)
}

async function accept(listener: Listener, prepare?: (pair: QueuePair) => void): Promise<Connection> {
  const request = await listener.next(PATIENCE)
  assert.ok(request)
  return request.accept({ ...PATIENCE, ...(prepare === undefined ? {} : { prepare }) })
}

test('devices and doctor say that it speaks iWARP', () => {
  const run = (...words: readonly string[]): string =>
    execFileSync(process.execPath, ['bin/aether.js', ...words], { encoding: 'utf8' })
  assert.match(run('devices'), /siw0 +ibverbs +1 +active +iwarp/)
  assert.match(run('doctor'), /ok +iwarp +siw0 port 1 speaks iWARP/)
})

for (const of of devices) {
  test(`${of.device}: rping as client`, async () => {
    using listener = await listen({ ...of, address: siwAddress })
    using program = startProgram('rping', '-c', '-v', '-V', '-C', '5', '-a', siwAddress, '-p', String(listener.port))
    let end: RpingEnd | undefined
    using connection = await accept(listener, (pair) => {
      end = new RpingEnd(pair)
    })
    const texts = await end!.serve(5)
    assert.match(texts[4] ?? '', /^rdma-ping-4: /)
    assert.equal((await program.finished()).status, 0)
    assert.equal(await connection.closed, 'peer')
  })

  test(`${of.device}: rping as server`, async () => {
    using program = startProgram('rping', '-s', '-v', '-C', '5', '-a', siwAddress, '-p', '7301')
    let end: RpingEnd | undefined
    const prepare = (pair: QueuePair): void => {
      end = new RpingEnd(pair)
    }
    const to = { ...PATIENCE, ...of, address: siwAddress, port: 7301, prepare }
    using connection = await whenListening(() => connect(to))
    await end!.ping(5)
    await connection.disconnect()
    await program.finished()
    assert.match(program.output, /server ping data: aether-ping-4/)
  })

  test(`${of.device}: ucmatose as client`, async () => {
    const arriving = new Map<number, Promise<unknown>[]>()
    using listener = await listen({ ...of, address: siwAddress })
    using program = startProgram('ucmatose', '-s', siwAddress, '-p', String(listener.port), ...UCMATOSE)
    const prepare = receives(arriving)
    const connections = await Promise.all([accept(listener, prepare), accept(listener, prepare)])
    await Promise.all(connections.map((each) => exchange(each, arriving)))
    for (const connection of connections) await connection.disconnect()
    const { status, output } = await program.finished()
    assert.equal(status, 0, output)
    for (const connection of connections) connection.close()
  })

  test(`${of.device}: rdma_client and rdma_server`, async () => {
    let arriving: Promise<unknown> | undefined
    const prepare = (pair: QueuePair): void => {
      arriving = pair.receive({ local: pair.domain.allocate(16, Access.LocalWrite).subarray(0, 16) })
      arriving.catch(() => undefined)
    }
    const say = ({ domain, pair }: Connection): Promise<unknown> =>
      pair.send({ local: domain.allocate(16, Access.LocalWrite).subarray(0, 16) })
    {
      using listener = await listen({ ...of, address: siwAddress })
      using program = startProgram('rdma_client', '-s', siwAddress, '-p', String(listener.port))
      using connection = await accept(listener, prepare)
      await arriving
      await say(connection)
      const { status, output } = await program.finished()
      assert.equal(status, 0, output)
    }
    using program = startProgram('rdma_server', '-s', siwAddress, '-p', '7304')
    const to = { ...PATIENCE, ...of, address: siwAddress, port: 7304, prepare }
    using connection = await whenListening(() => connect(to))
    await say(connection)
    await arriving
    await connection.disconnect()
    const { status, output } = await program.finished()
    assert.equal(status, 0, output)
  })
}

// Not with siw0 as the caller: the server speaks first, which siw does before its own caller has read the reply, and
// then the attempt ends with EINVAL. A tcp device offers to speak first, as rdma_connect(3) cannot.
test(`${TCP.device}: ucmatose as server`, async () => {
  const arriving = new Map<number, Promise<unknown>[]>()
  using program = startProgram('ucmatose', '-b', siwAddress, '-p', '7303', ...UCMATOSE)
  const to = { ...PATIENCE, ...TCP, address: siwAddress, port: 7303 }
  const dial = (): Promise<Connection> => whenListening(() => connect({ ...to, prepare: receives(arriving) }))
  const connections = [await dial(), await dial()]
  await Promise.all(connections.map((each) => exchange(each, arriving)))
  for (const connection of connections) assert.equal(await connection.closed, 'peer')
  const { status, output } = await program.finished()
  assert.equal(status, 0, output)
  for (const connection of connections) connection.close()
})

/** What ucmatose does at either end: as many messages in each direction. */
async function exchange(connection: Connection, arriving: ReadonlyMap<number, Promise<unknown>[]>): Promise<void> {
  const memory = connection.domain.allocate(MESSAGE_BYTES, 1)
  for (let message = 0; message < MESSAGES; message += 1)
    await connection.pair.send({ local: memory.subarray(0, MESSAGE_BYTES) })
  await Promise.all(arriving.get(connection.pair.number) ?? [])
}

function receives(into: Map<number, Promise<unknown>[]>): (pair: QueuePair) => void {
  return (pair) => {
    const memory = pair.domain.allocate(MESSAGE_BYTES, 1)
    const arriving = Array.from({ length: MESSAGES }, () => pair.receive({ local: memory.subarray(0, MESSAGE_BYTES) }))
    // An attempt that is repeated, because nothing listens yet, takes its receives with it.
    for (const each of arriving) each.catch(() => undefined)
    into.set(pair.number, arriving)
  }
}

// ---- both ends are ours, of two providers

interface Side {
  readonly connection: Connection
  readonly memory: MemoryRegion
}

/** A connection, and memory at both ends that the other one may use. */
class Meeting implements Disposable {
  readonly sides: readonly [Side, Side]

  private constructor(sides: readonly [Side, Side]) {
    this.sides = sides
  }

  static async of(caller: Ends, called: Ends, source?: string): Promise<Meeting> {
    using listener = await listen({ ...called, address: siwAddress })
    const accepting = accept(listener)
    const from = source === undefined ? {} : { source }
    const connection = await connect({ ...PATIENCE, ...caller, ...from, address: siwAddress, port: listener.port })
    const sides = [connection, await accepting].map((each) => ({
      connection: each,
      memory: each.domain.allocate(2 * MEGABYTE, ALL_RIGHTS),
    }))
    return new Meeting([sides[0]!, sides[1]!])
  }

  [Symbol.dispose](): void {
    for (const { connection } of this.sides) connection.close()
  }
}

/** Fill memory with what `seed` says, or check that it is there. */
function fill(bytes: Uint8Array, seed: number): Uint8Array {
  for (let at = 0; at < bytes.length; at += 1) bytes[at] = (at * 7 + (at >> 8) * 13 + seed) & 0xff
  return bytes
}

async function sendAndReceive(from: Side, to: Side, longest: number = MEGABYTE): Promise<void> {
  for (const length of [0, 1, 3, 4096, 65_537, MEGABYTE].filter((each) => each <= longest)) {
    fill(from.memory.bytes.subarray(0, length), length)
    to.memory.bytes.fill(0)
    const arriving = to.connection.pair.receive({ local: to.memory.subarray(0, MEGABYTE) })
    await from.connection.pair.send({ local: from.memory.subarray(0, length) })
    assert.equal((await arriving).byteLength, length)
    assert.deepEqual(
      Buffer.from(to.memory.bytes.subarray(0, length)),
      Buffer.from(fill(new Uint8Array(length), length)),
    )
  }
}

/** What is written is there once the message behind it has come. */
async function writeAndTell(from: Side, to: Side, longest: number = MEGABYTE): Promise<void> {
  for (const length of [0, 1, 4097, MEGABYTE].filter((each) => each <= longest)) {
    fill(from.memory.bytes.subarray(0, length), length + 1)
    to.memory.bytes.fill(0)
    const remote = { address: to.memory.address, key: to.memory.remoteKey }
    const told = to.connection.pair.receive({ local: to.memory.subarray(MEGABYTE, MEGABYTE + 16) })
    const writing = from.connection.pair.write({ local: from.memory.subarray(0, length), remote })
    await Promise.all([writing, from.connection.pair.send({ local: from.memory.subarray(MEGABYTE, MEGABYTE + 1) })])
    await told
    assert.deepEqual(
      Buffer.from(to.memory.bytes.subarray(0, length)),
      Buffer.from(fill(new Uint8Array(length), length + 1)),
    )
  }
}

async function readMany(from: Side, to: Side): Promise<void> {
  const length = Math.floor(MEGABYTE / READS)
  fill(to.memory.bytes.subarray(0, MEGABYTE), 5)
  from.memory.bytes.fill(0)
  await Promise.all(
    Array.from({ length: READS }, (_, index) => {
      const at = index * length
      const remote = { address: to.memory.address + at, key: to.memory.remoteKey }
      return from.connection.pair.read({ local: from.memory.subarray(at, at + length), remote })
    }),
  )
  assert.deepEqual(
    Buffer.from(from.memory.bytes.subarray(0, READS * length)),
    Buffer.from(fill(new Uint8Array(READS * length), 5)),
  )
}

for (const [caller, called, source] of [
  [SIW, SIW, undefined],
  [SIW, TCP, undefined],
  [TCP, SIW, undefined],
  // Between two addresses there is a CRC.
  [SIW, TCP, otherAddress],
  [TCP, SIW, otherAddress],
] as const) {
  const title = `${caller.device} calls ${called.device}${source === undefined ? '' : ', with CRC'}`

  test(`${title}: SEND, WRITE and READ in both directions`, async () => {
    using meeting = await Meeting.of(caller, called, source)
    const [one, other] = meeting.sides
    for (const [from, to] of [
      [one, other],
      [other, one],
    ] as const) {
      await sendAndReceive(from, to)
      await writeAndTell(from, to)
      await readMany(from, to)
    }
    await one.connection.disconnect()
    assert.equal(await other.connection.closed, 'peer')
  })

  test(`${title}: a READ of what the peer does not allow fails there, and ends the connection`, async () => {
    using meeting = await Meeting.of(caller, called, source)
    const [one, other] = meeting.sides
    const remote = { address: other.memory.address, key: (other.memory.remoteKey ^ 0x5500) >>> 0 }
    const reading = one.connection.pair.read({ local: one.memory.subarray(0, 64), remote })
    await assert.rejects(reading, { name: 'CompletionError' })
    assert.notEqual(await other.connection.closed, 'local')
    assert.equal(one.connection.pair.state, QueuePairState.Error)
  })

  test(`${title}: a SEND that finds no receive ends the connection`, async () => {
    using meeting = await Meeting.of(caller, called, source)
    const [one, other] = meeting.sides
    await one.connection.pair.send({ local: one.memory.subarray(0, 64) }).catch(() => undefined)
    await Promise.all([one.connection.closed, other.connection.closed])
  })

  test(`${title}: private data and refusals`, async () => {
    using listener = await listen({ ...called, address: siwAddress })
    const from = source === undefined ? {} : { source }
    const to = { ...PATIENCE, ...caller, ...from, address: siwAddress, port: listener.port }
    const answering = listener.next(PATIENCE).then((request) => {
      assert.deepEqual([...request!.privateData.subarray(0, 3)], [1, 2, 3])
      return request!.accept({ ...PATIENCE, privateData: Uint8Array.of(4, 5) })
    })
    using connection = await connect({ ...to, privateData: Uint8Array.of(1, 2, 3) })
    assert.deepEqual([...connection.privateData.subarray(0, 2)], [4, 5])
    using other = await answering
    const refusing = listener.next(PATIENCE).then((request) => request!.reject(Uint8Array.of(9)))
    await assert.rejects(connect(to), { name: 'ConnectionRejectedError', reason: 'consumer' })
    await refusing
    assert.equal(other.pair.state, QueuePairState.ReadyToSend)
  })
}

const hasTshark = spawnSync('tshark', ['--version']).status === 0

/** Records what crosses the loopback interface until `conversation` is over; the file. */
async function captured(conversation: () => Promise<void>): Promise<string> {
  const file = '/tmp/siw.pcapng'
  using recorder = startProgram('dumpcap', '-q', '-B', '64', '-i', 'lo', '-f', 'tcp', '-w', file)
  await recorder.until(/File:/)
  await conversation()
  await new Promise((resolve) => setTimeout(resolve, 1000))
  recorder.kill('SIGINT')
  await recorder.finished()
  return file
}

test('what both say decodes as iWARP, CRC and all', {
  skip: hasTshark ? false : 'tshark is not installed (Debian: tshark)',
}, async () => {
  const file = await captured(async () => {
    for (const [caller, called] of [
      [SIW, TCP],
      [TCP, SIW],
    ] as const) {
      using meeting = await Meeting.of(caller, called, otherAddress)
      const [one, other] = meeting.sides
      // Not as much as the recorder of an emulated guest may lose.
      await sendAndReceive(one, other, 65_537)
      await writeAndTell(other, one, 4097)
      const source = { address: other.memory.address, key: other.memory.remoteKey }
      await one.connection.pair.read({ local: one.memory.subarray(0, 5000), remote: source })
      // Ends with a TERMINATE.
      const remote = { address: other.memory.address, key: (other.memory.remoteKey ^ 0x5500) >>> 0 }
      const reading = one.connection.pair.read({ local: one.memory.subarray(0, 64), remote })
      await assert.rejects(reading)
    }
  })
  // tshark takes messages for those of other protocols over RDMA, by a guess.
  const notOurs = ['rpcordma', 'smb_direct', 'iser'].flatMap((name) => ['--disable-protocol', name])
  const tshark = (...words: readonly string[]): string =>
    execFileSync('tshark', ['-r', file, ...notOurs, ...words], { encoding: 'utf8', maxBuffer: 1 << 28 })
  const text = tshark('-V', '-o', 'tcp.desegment_tcp_streams:TRUE')
  assert.match(text, /Request frame header[\s\S]*Reply frame header/)
  assert.doesNotMatch(text, /Malformed|Bad CRC|\[incorrect/i)
  const opcodes = new Set(tshark('-T', 'fields', '-e', 'iwarp_rdma.opcode', '-Y', 'iwarp_rdma').split(/[\s,]+/))
  // WRITE, READ request, READ response, SEND, TERMINATE
  for (const opcode of ['0x00', '0x01', '0x02', '0x03', '0x07']) assert.ok(opcodes.has(opcode), [...opcodes].join())
})

for (const [caller, called] of [
  [SIW, TCP],
  [TCP, SIW],
] as const) {
  test(`${caller.device} calls ${called.device}: 64 connections leave nothing on siw0`, async () => {
    const before = resources()
    using listener = await listen({ ...called, address: siwAddress })
    for (let round = 0; round < 64; round += 1) {
      const accepting = accept(listener)
      const connection = await connect({ ...PATIENCE, ...caller, address: siwAddress, port: listener.port })
      const other = await accepting
      await (round % 2 === 0 ? connection : other).disconnect()
      for (const each of [connection, other]) each.close()
    }
    listener.close()
    await settlesTo(before)
  })
}

test('where nothing listens the answer is the same by both devices', async () => {
  for (const of of devices) {
    const attempt = connect({ ...PATIENCE, ...of, address: siwAddress, port: 7999 })
    await assert.rejects(attempt, { name: 'ConnectionRejectedError', reason: 'no-listener' })
  }
})
