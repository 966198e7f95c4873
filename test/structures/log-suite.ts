import assert from 'node:assert/strict'
import type { FollowOptions, LogBounds, LogEntry, WaitOptions } from '../../src/structures/index.ts'

/** What a follower has wherever its log is. */
interface AnyFollower<V> extends AsyncIterableIterator<LogEntry<V>, undefined> {
  readonly position: number
  readonly ready: Promise<void>
  next(): Promise<IteratorResult<LogEntry<V>, undefined>>
  close(): void
}

/** What a log has wherever it is. */
export interface AnyLog<V> extends AsyncIterable<LogEntry<V>> {
  append(value: V, options?: WaitOptions): Promise<number>
  read(from: number, count?: number, options?: WaitOptions): Promise<readonly LogEntry<V>[]>
  tail(count?: number, options?: WaitOptions): Promise<readonly LogEntry<V>[]>
  bounds(options?: WaitOptions): Promise<LogBounds>
  trim(before: number, options?: WaitOptions): Promise<number>
  follow(options?: FollowOptions): AnyFollower<V>
}

/** What a channel has wherever it is. */
export interface AnyChannel<V> {
  publish(message: V, options?: WaitOptions): Promise<number>
  subscribe(options?: WaitOptions): AnyFollower<V>
}

/** A new log that keeps four entries does what logs do; `other` is the same log, as another has it. */
export async function playLog(log: AnyLog<string | undefined>, other: AnyLog<string | undefined>): Promise<void> {
  assert.deepEqual([await log.bounds(), await log.read(0), await log.tail()], [{ first: 0, end: 0 }, [], []])
  for (const [index, text] of ['a', 'b', undefined, 'd', 'e', 'f'].entries())
    assert.equal(await (index % 2 === 0 ? log : other).append(text), index)
  assert.deepEqual([await log.bounds(), await other.bounds()], Array(2).fill({ first: 2, end: 6 }))
  assert.deepEqual(await other.tail(2), [
    { index: 4, value: 'e', missed: 0 },
    { index: 5, value: 'f', missed: 0 },
  ])
  assert.deepEqual(await log.read(1, 2), [
    { index: 2, value: undefined, missed: 1 },
    { index: 3, value: 'd', missed: 0 },
  ])
  assert.deepEqual([await log.read(6), await log.read(4, 0), await log.read(1000)], [[], [], []])
  await playFollowing(log, other)
  await playEnds(log, other)
}

async function playFollowing(log: AnyLog<string | undefined>, other: AnyLog<string | undefined>): Promise<void> {
  const seen: (string | undefined)[] = []
  for await (const { value } of log) {
    seen.push(value)
    if (seen.length === 4) await other.append('g')
    if (seen.length === 5) break
  }
  assert.deepEqual(seen, [undefined, 'd', 'e', 'f', 'g'])
  const next = log.follow({ from: 'next' })
  await next.ready
  const waiting = next.next()
  await other.append('h')
  assert.deepEqual((await waiting).value, { index: 7, value: 'h', missed: 0 })
  assert.equal(next.position, 8)
  const late = log.follow({ from: 1 })
  assert.deepEqual((await late.next()).value, { index: 4, value: 'e', missed: 3 })
}

async function playEnds(log: AnyLog<string | undefined>, other: AnyLog<string | undefined>): Promise<void> {
  assert.equal(await other.trim(7), 3)
  assert.deepEqual([await other.trim(7), await log.bounds()], [0, { first: 7, end: 8 }])
  const late = log.follow({ from: 5 })
  assert.deepEqual((await late.next()).value, { index: 7, value: 'h', missed: 2 })
  const closed = late.next()
  late.close()
  assert.deepEqual([await closed, await late.next()], Array(2).fill({ done: true, value: undefined }))
  const stop = new AbortController()
  const stopped = log.follow({ from: 'next', signal: stop.signal }).next()
  stop.abort(new Error('enough'))
  await assert.rejects(stopped, /enough/)
  await assert.rejects(log.append('no', { signal: AbortSignal.abort(new Error('not now')) }), /not now/)
  assert.equal(await log.trim(1000), 1)
  assert.deepEqual([await log.bounds(), await other.tail()], [{ first: 8, end: 8 }, []])
  assert.equal(await log.append('i'), 8)
  assert.deepEqual(await other.read(0), [{ index: 8, value: 'i', missed: 8 }])
}

/** A new channel that keeps 50 messages does what channels do; `other` is the same one, as another has it. */
export async function playChannel(channel: AnyChannel<number>, other: AnyChannel<number>): Promise<void> {
  await channel.publish(-1)
  const quick = other.subscribe()
  const slow = channel.subscribe()
  await quick.ready
  for (let message = 0; message < 80; message += 1) {
    await channel.publish(message)
    if (message < 10) assert.deepEqual((await quick.next()).value, { index: message + 1, value: message, missed: 0 })
  }
  assert.deepEqual((await slow.next()).value, { index: 31, value: 30, missed: 30 })
  const rest: number[] = []
  for await (const { value, missed } of slow) {
    assert.equal(missed, 0)
    rest.push(value)
    if (value === 79) break
  }
  assert.deepEqual([rest.length, rest[0]], [49, 31])
  assert.deepEqual(await slow.next(), { done: true, value: undefined })
  quick.close()
}
