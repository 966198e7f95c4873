import assert from 'node:assert/strict'
import { Buffer } from 'node:buffer'
import { setImmediate as turn } from 'node:timers/promises'
import { Picker } from '../../../index-service/support/program-parts.ts'
import { drawPieces, drawStream } from './byte-streams.ts'
import { Wire } from './wire.ts'

const PATIENCE_MS = 5_000
/** Requests behind which redis-server has done what came on another connection before. */
const LOOKS = 4

export interface ByteFuzz {
  /** Of the door: its port. Of redis-server: its socket. */
  readonly own: number
  readonly theirs: string
  readonly seed: number
  readonly streams: number
}

/** Spoiled requests get the same bytes from both servers, or the connection ends at both. No one else is harmed. */
export async function fuzzBytes({ own, theirs, seed, streams }: ByteFuzz): Promise<void> {
  const pick = new Picker(seed)
  using mine = new Wire(own)
  using others = new Wire(theirs)
  await forget([mine, others])
  for (let number = 0; number < streams; number += 1) {
    const pieces = drawPieces(pick, drawStream(pick))
    // Redis takes that many arguments, a door does not.
    if (/\*\d{7}/.test(Buffer.concat(pieces).toString('latin1'))) continue
    const where = `seed ${seed}, stream ${number}: ${JSON.stringify(pieces.map((piece) => piece.toString('latin1')))}`
    if (pick.once(8)) {
      await Promise.all([cutOff(own, pieces), cutOff(theirs, pieces)])
      await alone([mine, others], where)
      await forget([mine, others])
      continue
    }
    // In one piece: when it ends the connection, nothing is on the way that would make it lose what it said.
    const expected = await received(theirs, [Buffer.concat(pieces)], others)
    const found = await received(own, pieces, mine, expected)
    const isCut = found.hasEnded && expected.hasEnded && expected.text.startsWith(found.text)
    if (!isCut) assert.deepEqual(found, expected, where)
    await alone([mine, others], where)
  }
}

interface Received {
  readonly text: string
  readonly hasEnded: boolean
}

/** All that comes back. `expected`: what may take a while. `control`: another connection to the same server. */
async function received(
  where: number | string,
  pieces: readonly Buffer[],
  control: Wire,
  expected?: Received,
): Promise<Received> {
  using wire = new Wire(where)
  for (const piece of pieces) {
    wire.send(piece)
    await turn()
  }
  const shown = (): Received => ({ text: withoutHello(wire.received), hasEnded: wire.hasEnded })
  const isThere = (): boolean =>
    expected === undefined || (shown().text.length >= expected.text.length && wire.hasEnded === expected.hasEnded)
  await wire.flushed()
  for (let looks = 0; looks < LOOKS; looks += 1) assert.equal(await control.ask('PING'), 'PONG')
  if (/-ERR Protocol error: [^\r]*\r\n$/.test(shown().text)) await wire.until(() => wire.hasEnded, 'the end')
  await wire.until(isThere, 'the same', PATIENCE_MS).catch(() => undefined)
  return shown()
}

/** Both have versions and ids of their own. */
function withoutHello(bytes: Buffer): string {
  return bytes.toString('latin1').replace(/\$6\r\nserver.*?modules\r\n\*\d+\r\n/gs, 'hello')
}

/** The connection is lost in the middle. */
async function cutOff(where: number | string, pieces: readonly Buffer[]): Promise<void> {
  using wire = new Wire(where)
  for (const piece of pieces.slice(0, Math.ceil(pieces.length / 2))) {
    wire.send(piece)
    await turn()
  }
}

async function forget(controls: readonly Wire[]): Promise<void> {
  for (const control of controls) await control.ask('FLUSHALL')
}

/** Until no other client is known. */
async function alone(controls: readonly Wire[], where: string): Promise<void> {
  const endMs = performance.now() + PATIENCE_MS
  for (const control of controls)
    for (;;) {
      const [list] = await control.run([['CLIENT', 'LIST']])
      if (list!.raw.split('\n').filter((line) => line.includes('id=')).length === 1) break
      assert.ok(performance.now() < endMs, `clients are left behind: ${list!.raw}, after ${where}`)
      await turn()
    }
}
