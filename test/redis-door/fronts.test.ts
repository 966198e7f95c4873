/** Both ways to take clients' connections: what is said of a stream in `byte-stream.ts` holds for each. */
import assert from 'node:assert/strict'
import { Buffer } from 'node:buffer'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { ByteStream, Front, TakeStream } from '../../src/redis-door/streams/byte-stream.ts'
import { NativeFront } from '../../src/redis-door/streams/native-front.ts'
import { NodeFront } from '../../src/redis-door/streams/node-front.ts'
import { until } from '../cluster/support.ts'

const fronts = {
  native: (address: string, take: TakeStream, port = 0) => NativeFront.open(address, port, take),
  'native with threads': (address: string, take: TakeStream, port = 0) =>
    NativeFront.open(address, port, take, { threads: 4 }),
  node: (address: string, take: TakeStream, port = 0) => NodeFront.open(address, port, take),
}

/** The server's end of a connection, with what it was told. */
class Served {
  readonly stream: ByteStream
  readonly pieces: Buffer[] = []
  drained = 0
  closed = 0
  onReceived: (piece: Buffer) => void = () => undefined

  constructor(stream: ByteStream, keepAliveSeconds: number) {
    this.stream = stream
    stream.begin(
      {
        received: (piece) => {
          this.pieces.push(piece)
          this.onReceived(piece)
          return true
        },
        drained: () => {
          this.drained += 1
        },
        closed: () => {
          this.closed += 1
        },
      },
      keepAliveSeconds,
    )
  }

  get text(): string {
    return Buffer.concat(this.pieces).toString('latin1')
  }
}

class Place implements AsyncDisposable {
  readonly served: Served[] = []
  readonly clients: Socket[] = []
  onTaken: (served: Served) => void = () => undefined
  keepAliveSeconds = 60
  front!: Front

  static async open(kind: keyof typeof fronts, address = '127.0.0.1'): Promise<Place> {
    const place = new Place()
    place.front = await fronts[kind](address, (stream) => {
      const served = new Served(stream, place.keepAliveSeconds)
      place.served.push(served)
      place.onTaken(served)
    })
    return place
  }

  /** A client, and its other end. */
  async connect(host = '127.0.0.1'): Promise<{ readonly client: Socket; readonly served: Served }> {
    const count = this.served.length
    const client = connect({ host, port: this.front.port })
    client.on('error', () => undefined)
    this.clients.push(client)
    await once(client, 'connect')
    await until(() => this.served.length > count, 'it is taken')
    return { client, served: this.served[count]! }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.clients) client.destroy()
    const closed = this.front.close()
    for (const { stream } of this.served) stream.destroy()
    await closed
  }
}

/** Bytes that tell their place. */
function countingBytes(length: number): Buffer {
  const bytes = Buffer.alloc(length)
  for (let at = 0; at + 4 <= length; at += 4) bytes.writeUInt32LE(at, at)
  return bytes
}

async function readAll(client: Socket, length: number): Promise<Buffer> {
  const pieces: Buffer[] = []
  let total = 0
  const take = (piece: Buffer): void => {
    pieces.push(piece)
    total += piece.length
  }
  client.on('data', take)
  client.resume()
  await until(() => total >= length, 'all has come')
  client.off('data', take)
  return Buffer.concat(pieces)
}

for (const kind of ['native', 'native with threads', 'node'] as const) {
  test(`${kind}: what clients send comes, and what is written goes back, each in its order`, async () => {
    await using place = await Place.open(kind)
    place.onTaken = (served) => {
      served.onReceived = (piece) => served.stream.write(piece)
    }
    const sent = Array.from({ length: 20 }, (_, each) => countingBytes(40_000 + 4 * each))
    const got = await Promise.all(
      sent.map(async (bytes) => {
        const { client } = await place.connect()
        client.write(bytes)
        return await readAll(client, bytes.length)
      }),
    )
    for (const [at, bytes] of sent.entries()) assert.ok(got[at]!.equals(bytes))
  })

  test(`${kind}: what is kept of what was received stays as it was`, async () => {
    await using place = await Place.open(kind)
    const { client, served } = await place.connect()
    const bytes = countingBytes(3 * 2 ** 20)
    client.write(bytes)
    await until(() => served.pieces.reduce((sum, { length }) => sum + length, 0) === bytes.length, 'all has come')
    assert.ok(Buffer.concat(served.pieces).equals(bytes))
  })

  test(`${kind}: what a client does not take is counted, and sent when it does; written bytes may be used again`, async () => {
    await using place = await Place.open(kind)
    const { client, served } = await place.connect()
    client.pause()
    const bytes = countingBytes(8 * 2 ** 20)
    const room = Buffer.alloc(64 * 1024)
    for (let at = 0; at < bytes.length; at += room.length) {
      bytes.copy(room, 0, at, at + room.length)
      served.stream.write(room)
    }
    room.fill(0)
    await until(() => served.stream.unsentBytes > 0, 'something is not sent')
    assert.equal(served.drained, 0)
    const got = await readAll(client, bytes.length)
    assert.ok(got.equals(bytes))
    await until(() => served.drained > 0 && served.stream.unsentBytes === 0, 'all is sent')
  })

  test(`${kind}: peers may be looked for after any time that can be set, though the kernel has a bound`, async () => {
    await using place = await Place.open(kind)
    for (const seconds of [0, 1, 32_768, 2 ** 31 - 1]) {
      place.keepAliveSeconds = seconds
      const { client, served } = await place.connect()
      client.write('x')
      await until(() => served.text === 'x', 'it is heard')
    }
  })

  test(`${kind}: nothing comes while it does not read`, async () => {
    await using place = await Place.open(kind)
    const { client, served } = await place.connect()
    const { client: other, served: otherServed } = await place.connect()
    served.stream.setReading(false)
    client.write('first')
    other.write('x')
    await until(() => otherServed.text === 'x', 'the other is heard')
    assert.equal(served.text, '')
    served.stream.setReading(true)
    await until(() => served.text === 'first', 'it reads')
  })

  test(`${kind}: what is written to many in one turn comes to each, also by one that ends or is destroyed in it`, async () => {
    await using place = await Place.open(kind)
    const ends: Awaited<ReturnType<Place['connect']>>[] = []
    while (ends.length < 40) ends.push(await place.connect())
    const closed = Promise.all(ends.slice(0, 2).map(({ client }) => once(client, 'close')))
    const room = Buffer.alloc(100)
    for (const [at, { served }] of ends.entries()) {
      for (const part of ['a', 'b', 'c']) {
        room.fill(`${part}${at} `)
        served.stream.write(room.subarray(0, 4))
      }
      if (at === 0) served.stream.end()
      else if (at === 1) served.stream.destroy()
    }
    room.fill(0)
    for (const [at, { client }] of ends.entries()) {
      const text = ['a', 'b', 'c'].map((part) => `${part}${at} ${part}`.slice(0, 4)).join('')
      // What is destroyed may have sent nothing.
      if (at === 1) client.resume()
      else assert.equal((await readAll(client, 12)).toString(), text)
    }
    await closed
  })

  test(`${kind}: an end comes after everything that was written`, async () => {
    await using place = await Place.open(kind)
    const { client, served } = await place.connect()
    client.pause()
    const bytes = countingBytes(6 * 2 ** 20)
    served.stream.write(bytes)
    served.stream.end()
    assert.equal(served.stream.isWritable, false)
    served.stream.write(Buffer.from('nothing more'))
    const closed = once(client, 'close')
    const got = await readAll(client, bytes.length)
    assert.ok(got.equals(bytes))
    await closed
    await until(() => served.closed === 1, 'it has ended')
  })

  test(`${kind}: the end of a client is told once, whether it ends, resets or has gone before a write`, async () => {
    await using place = await Place.open(kind)
    const ended = await place.connect()
    ended.client.end('last')
    await until(() => ended.served.closed === 1, 'it has ended')
    assert.equal(ended.served.text, 'last')
    const reset = await place.connect()
    reset.client.resetAndDestroy()
    await until(() => reset.served.closed === 1, 'it has ended')
    const gone = await place.connect()
    gone.served.stream.setReading(false)
    gone.client.resetAndDestroy()
    await until(() => {
      gone.served.stream.write(Buffer.from('x'))
      return gone.served.closed === 1
    }, 'it has ended')
    for (const { served } of [ended, reset, gone]) {
      served.stream.write(Buffer.from('x'))
      served.stream.end()
      served.stream.destroy()
    }
    await place.connect()
    assert.deepEqual(
      [ended, reset, gone].map(({ served }) => served.closed),
      [1, 1, 1],
    )
  })

  test(`${kind}: one may be destroyed while it is told something, and another as well`, async () => {
    await using place = await Place.open(kind)
    const [first, second, third] = [await place.connect(), await place.connect(), await place.connect()]
    first.served.onReceived = () => {
      first.served.stream.destroy()
      second.served.stream.destroy()
    }
    for (const { client } of [first, second, third]) client.write('x')
    await until(
      () => third.served.text === 'x' && first.served.closed === 1 && second.served.closed === 1,
      'it has ended',
    )
    third.client.write('y')
    await until(() => third.served.text === 'xy', 'it is so')
  })

  test(`${kind}: addresses are those of the connection, and a port in use is refused with its name`, async () => {
    await using place = await Place.open(kind)
    const { client, served } = await place.connect()
    assert.equal(served.stream.address, `127.0.0.1:${client.localPort}`)
    assert.equal(served.stream.localAddress, `127.0.0.1:${place.front.port}`)
    await assert.rejects(
      fronts[kind]('127.0.0.1', () => undefined, place.front.port),
      { name: 'SystemError', errnoName: 'EADDRINUSE' },
    )
    await assert.rejects(
      fronts[kind]('no.such.host.invalid', () => undefined),
      (error: { readonly code?: string }) => error.code === 'ENOTFOUND' || error.code === 'EAI_AGAIN',
    )
  })

  test(`${kind}: a front that is closed takes no one, and its port is free`, async () => {
    const place = await Place.open(kind)
    const { port } = place.front
    const { served } = await place.connect()
    await place[Symbol.asyncDispose]()
    assert.equal(served.closed, 1)
    const again = await fronts[kind]('127.0.0.1', () => undefined, port)
    await again.close()
  })
}

test('native: an address of IPv6', async (t) => {
  const place = await Place.open('native', '::1').catch((error: { readonly errnoName?: string }) => {
    if (error.errnoName !== 'EADDRNOTAVAIL' && error.errnoName !== 'EAFNOSUPPORT') throw error
    return undefined
  })
  if (place === undefined) return t.skip('this machine has no IPv6')
  const { client, served } = await place.connect('::1')
  assert.equal(served.stream.address, `[::1]:${client.localPort}`)
  await place[Symbol.asyncDispose]()
})

test('native: where no descriptor is left, callers wait until one is, and the others are served', async () => {
  const fixture = fileURLToPath(new URL('./fixtures/echo-front.js', import.meta.url))
  const server: ChildProcess = spawn('sh', ['-c', `ulimit -n 80; exec "$0" "$1"`, process.execPath, fixture], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const sockets: Socket[] = []
  try {
    const [port] = (await once(server, 'message')) as [number]
    const answered = new Set<Socket>()
    for (let each = 0; each < 120; each += 1) {
      const socket = connect({ host: '127.0.0.1', port })
      sockets.push(socket)
      socket.on('error', () => undefined)
      socket.on('data', () => answered.add(socket))
      socket.write('x')
    }
    await until(() => answered.size > 10, 'it is so')
    // Those who are connected go on, though others cannot be.
    const [one] = answered
    const answer = once(one!, 'data')
    one!.write('y')
    await answer
    assert.ok(answered.size < sockets.length)
    await until(() => {
      for (const socket of answered) socket.destroy()
      return answered.size === sockets.length
    }, 'all are served')
  } finally {
    for (const socket of sockets) socket.destroy()
    server.kill('SIGKILL')
  }
})

test('an encrypted front closes though a client has not said hello', async () => {
  const front = await NodeFront.open('127.0.0.1', 0, () => assert.fail('it is not taken'), {})
  const client = connect(front.port, '127.0.0.1').resume()
  await once(client, 'connect')
  for (let turns = 0; turns < 20; turns += 1) await new Promise(setImmediate)
  const ends = Promise.all([front.close(), once(client, 'close')])
  let isLate: NodeJS.Timeout | undefined
  const late = new Promise((_, reject) => {
    isLate = setTimeout(() => reject(new Error('it does not end')), 60_000)
  })
  await Promise.race([ends, late])
  clearTimeout(isLate)
})
