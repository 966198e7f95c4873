import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { test } from 'node:test'
import { encodeFrame } from '../../../src/cluster/hosts/frames.ts'
import { Keeper } from '../../../src/cluster/hosts/keeper.ts'
import { RendezvousCaller } from '../../../src/cluster/hosts/rendezvous-caller.ts'
import type { ConnectionLimits } from '../../../src/cluster/hosts/sealed-connection.ts'
import { until } from '../support.ts'

const secret = Buffer.from('a secret of more than thirty-two bytes')
const limits: ConnectionLimits = { handshakeMs: 300, beatMs: 50, silenceMs: 1500 }

/** A keeper, what it logged, and the ranks that call it. */
class House implements AsyncDisposable {
  readonly lines: string[] = []
  readonly ends: string[] = []
  readonly ranks: Rank[] = []
  keeper!: Keeper
  readonly #sockets: Socket[] = []

  static async open(size: number): Promise<House> {
    const house = new House()
    const { lines, ends } = house
    house.keeper = await Keeper.listen({
      secret,
      size,
      host: '127.0.0.1',
      port: 0,
      limits,
      log: (line) => lines.push(line),
      onEnd: (rank, why) => ends.push(`${rank}: ${why}`),
    })
    return house
  }

  rank(rank: number, size: number, options: { readonly secret?: Buffer; readonly timeoutMs?: number } = {}): Rank {
    const called = new Rank(rank, size, this.keeper.port, options.secret ?? secret, options.timeoutMs ?? 20_000)
    this.ranks.push(called)
    return called
  }

  async stranger(): Promise<Socket> {
    const socket = connect({ host: '127.0.0.1', port: this.keeper.port })
    socket.on('error', () => {})
    socket.resume()
    this.#sockets.push(socket)
    await once(socket, 'connect')
    return socket
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const rank of this.ranks) rank.caller.close()
    for (const socket of this.#sockets) socket.destroy()
    this.keeper.close()
  }
}

class Rank {
  readonly caller: RendezvousCaller
  readonly gathered: (readonly unknown[])[] = []
  readonly ended: string[] = []
  readonly lost: string[] = []
  failure: (Error & { code?: string }) | undefined

  constructor(rank: number, size: number, port: number, own: Buffer, timeoutMs: number) {
    const options = { host: '127.0.0.1', port, secret: own, rank, size, timeoutMs, limits }
    this.caller = new RendezvousCaller(options, {
      gathered: (_, values) => this.gathered.push(values),
      ended: (other, why) => this.ended.push(`${other}: ${why}`),
      lost: (why) => this.lost.push(why),
      failed: (error) => {
        this.failure = error
      },
    })
  }
}

/** Gives three rounds and waits for all of each. */
async function complete(ranks: readonly Rank[]): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    for (const [rank, each] of ranks.entries()) each.caller.give(round, `${round} of ${rank}`)
    await until(() => ranks.every((each) => each.gathered.length === round + 1), `round ${round}`)
  }
}

test('in every round each is given what all gave, by rank', async () => {
  await using house = await House.open(3)
  const ranks = [0, 1, 2].map((rank) => house.rank(rank, 3))
  await complete(ranks)
  for (const { gathered } of ranks)
    assert.deepEqual(
      gathered,
      [0, 1, 2].map((round) => [0, 1, 2].map((rank) => `${round} of ${rank}`)),
    )
  assert.deepEqual(house.lines, [])
})

test('strangers of every kind are refused with a line that says from where, in bounded time, and stop nobody', async () => {
  await using house = await House.open(2)
  const waiting = house.rank(0, 2)
  waiting.caller.give(0, 'here')
  const says: readonly (Buffer | undefined)[] = [
    undefined,
    Buffer.from('GET / HTTP/1.1\r\n\r\n'),
    encodeFrame(randomBytes(72)),
    Buffer.from([0, 0]),
    Buffer.from([0xff, 0xff, 0xff, 0xff]),
    encodeFrame(Buffer.alloc(0)),
  ]
  const strangers = await Promise.all(says.map(() => house.stranger()))
  const closed = strangers.map((socket) => once(socket, 'close'))
  for (const [index, bytes] of says.entries()) if (bytes !== undefined) strangers[index]!.write(bytes)
  const half = await house.stranger()
  half.destroy()
  await Promise.all(closed)
  await until(() => house.lines.length === says.length + 1, house.lines.join('; '))
  for (const line of house.lines) assert.match(line, /^the rendezvous refused 127\.0\.0\.1:\d+: \S/)
  const late = house.rank(1, 2)
  late.caller.give(0, 'here too')
  await until(() => waiting.gathered.length === 1 && late.gathered.length === 1, 'the group meets')
})

test('a stranger who drips bytes to keep the line open is dropped all the same', async () => {
  await using house = await House.open(1)
  const socket = await house.stranger()
  const timer = setInterval(() => socket.write(Buffer.of(0)), 20)
  await once(socket, 'close')
  clearInterval(timer)
})

test('hundreds who only sit there keep nobody out', async () => {
  await using house = await House.open(1)
  await Promise.all(Array.from({ length: 300 }, () => house.stranger()))
  const rank = house.rank(0, 1)
  rank.caller.give(0, null)
  await until(() => rank.gathered.length === 1, 'the rank is let in')
  assert.ok(house.lines.length <= 21, 'the log is bounded')
})

test('another secret is refused at both ends, with no value handed out', async () => {
  await using house = await House.open(2)
  const right = house.rank(0, 2, { timeoutMs: 1500 })
  right.caller.give(0, 'an address')
  const wrong = house.rank(1, 2, { secret: randomBytes(40) })
  wrong.caller.give(0, 'let me in')
  await until(() => wrong.failure !== undefined, 'refused')
  assert.equal(wrong.failure?.code, 'ERR_AETHER_RENDEZVOUS_REFUSED')
  assert.match(
    wrong.failure?.message ?? '',
    /rank 1 cannot join at 127\.0\.0\.1:\d+: the secret of this process differs/,
  )
  assert.deepEqual(wrong.gathered, [])
  await until(() => right.failure !== undefined, 'given up')
  assert.equal(right.failure?.code, 'ERR_AETHER_MISSING_MEMBERS')
  assert.equal((right.failure?.cause as { code?: string } | undefined)?.code, 'ERR_AETHER_RENDEZVOUS_REFUSED')
})

test('a rank that is there already, that is none of the group, or of another group, is told so', async () => {
  await using house = await House.open(2)
  house.rank(1, 2).caller.give(0, null)
  await until(() => house.keeper.missing().length === 1, 'rank 1 is in')
  for (const [rank, size, why] of [
    [1, 2, /rank 1 is already here, from 127/],
    [0, 3, /its group has 3 ranks, and this one has 2/],
    [5, 2, /rank 5 is not one of 2/],
  ] as const) {
    const twin = house.rank(rank, size)
    twin.caller.give(0, null)
    await until(() => twin.failure !== undefined, 'refused')
    assert.match(twin.failure?.message ?? '', why)
  }
})

test('who ends without a word, and who falls silent, is told to the others; who takes leave is not', async () => {
  await using house = await House.open(4)
  const ranks = [0, 1, 2, 3].map((rank) => house.rank(rank, 4))
  await complete(ranks)
  socketOf(ranks[1]!).destroy()
  // Gives no sign of life, as a host that is gone. It still hears those of the keeper: else it would end by itself, and
  // maybe before it is missed.
  socketOf(ranks[2]!).write = () => true
  ranks[3]!.caller.close()
  await until(() => ranks[0]!.ended.length === 2, ranks[0]!.ended.join())
  const [first, second] = [...ranks[0]!.ended].sort()
  // The kernel resets the connection of a process that ends with input unread.
  assert.match(first!, /^1: (its process ended|its connection failed: read ECONNRESET)$/)
  assert.equal(second, '2: nothing was heard from it for 1.5 s')
  assert.equal(house.ends.length, 2)
})

test('a thread that was kept from its event loop takes nobody for dead who has given signs of life meanwhile', async () => {
  await using house = await House.open(2)
  const ranks = [0, 1].map((rank) => house.rank(rank, 2))
  await complete(ranks)
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, limits.silenceMs + 500)
  ranks[0]!.caller.give(3, 'leaving')
  ranks[1]!.caller.give(3, 'leaving')
  await until(() => ranks.every(({ gathered }) => gathered.length === 4), 'both go on')
  assert.deepEqual([house.ends, ranks[0]!.lost, ranks[1]!.lost], [[], [], []])
})

test('a rank that says what no rank says is dead to the others', async () => {
  await using house = await House.open(2)
  const ranks = [0, 1].map((rank) => house.rank(rank, 2))
  await complete(ranks)
  ranks[1]!.caller.give(7, 'nonsense')
  await until(() => ranks[0]!.ended.length === 1 && ranks[1]!.lost.length === 1, 'both are told')
  assert.deepEqual(ranks[0]!.ended, ['1: it sent an unknown message'])
})

test('the round of leaving waits for nobody who has ended', async () => {
  await using house = await House.open(3)
  const ranks = [0, 1, 2].map((rank) => house.rank(rank, 3))
  await complete(ranks)
  ranks[0]!.caller.give(3, 'leaving')
  socketOf(ranks[1]!).destroy()
  await until(() => ranks[0]!.ended.length === 1, 'rank 1 has ended')
  assert.equal(ranks[0]!.gathered.length, 3, 'rank 2 is waited for')
  ranks[2]!.caller.give(3, 'leaving')
  await until(() => ranks[0]!.gathered.length === 4 && ranks[2]!.gathered.length === 4, 'all that are left have left')
  assert.deepEqual(ranks[0]!.gathered[3], ['leaving', null, 'leaving'])
})

test('ranks learn of the end of the keeper, also where it only falls silent', async () => {
  await using house = await House.open(2)
  const ranks = [0, 1].map((rank) => house.rank(rank, 2))
  await complete(ranks)
  house.keeper.close()
  await until(() => ranks.every(({ lost }) => lost.length === 1), 'lost')
  assert.deepEqual(ranks[0]!.lost, ['it has left'])
})

test('where nobody listens, that is what is said, once the time is over', async () => {
  const house = await House.open(1)
  const { port } = house.keeper
  await house[Symbol.asyncDispose]()
  const rank = new Rank(0, 1, port, secret, 400)
  rank.caller.give(0, null)
  await until(() => rank.failure !== undefined, 'given up')
  assert.equal(rank.failure?.code, 'ERR_AETHER_RENDEZVOUS_UNREACHABLE')
  assert.match(rank.failure?.message ?? '', /ECONNREFUSED/)
})

test('a port that is taken is an error that says so', async () => {
  await using house = await House.open(1)
  const { port } = house.keeper
  await assert.rejects(Keeper.listen({ secret, size: 1, host: '127.0.0.1', port, log: () => {} }), {
    code: 'ERR_AETHER_RENDEZVOUS_UNREACHABLE',
    message: /another program listens there/,
  })
})

/** The socket under a caller, to do to it what a network does. */
function socketOf({ caller }: Rank): Socket {
  return caller.socket!
}
