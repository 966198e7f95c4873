/**
 * Ours against rdma-core's own programs, either end, on one host. The bytes that come back are compared wherever ours
 * is the one to choose them.
 */
import assert from 'node:assert/strict'
import test from 'node:test'
import { type Program, startProgram } from './program.ts'

const main = 'dist/examples/pingpong/main.js'
const address = '10.9.0.1'
const device = ['-d', 'rxe0', '-g', '1']
/** The last digits of the port, so that a socket of the game before is in nobody's way. */
let nextPort = 20_000

export interface Game {
  readonly name: string
  readonly type: 'rc' | 'uc' | 'ud' | 'srq'
  readonly words: readonly string[]
  /** Whether messages of one queue pair only are under way, so that each can be compared with what was sent. */
  readonly checks: boolean
}

function ours({ type, words, checks }: Game, port: number, ...more: readonly string[]): Program {
  const check = checks ? ['--check'] : []
  return startProgram(process.execPath, main, '--type', type, ...device, '-p', `${port}`, ...words, ...check, ...more)
}

function theirs({ type, words }: Game, port: number, ...more: readonly string[]): Program {
  return startProgram(`ibv_${type}_pingpong`, ...device, '-p', `${port}`, ...words, ...more)
}

async function finish(game: Game, us: Program, them: Program): Promise<void> {
  // Where one fails the other may wait for ever.
  void us.ended.then(({ status }) => status !== 0 && them.kill())
  void them.ended.then(({ status }) => status !== 0 && us.kill())
  const [own, other] = await Promise.all([us.finished(), them.finished()])
  const said = `${us.label}: ${own.status}\n${own.output}\n${them.label}: ${other.status}\n${other.output}`
  assert.deepEqual([own.status, other.status], [0, 0], said)
  const { checked } = JSON.parse(own.output.trimEnd().split('\n').at(-1) ?? '')
  if (game.checks) assert.ok(checked > 0, own.output)
}

/** Which of the two connects. */
export type Caller = 'ours' | 'theirs'

export function testGame(game: Game, caller: Caller): void {
  if (caller === 'ours') testOursCalling(game)
  else testTheirsCalling(game)
}

function testOursCalling(game: Game): void {
  test(`${game.name}: ours calls theirs`, async () => {
    const port = nextPort++
    using them = theirs(game, port)
    await them.until(/local address/)
    await untilListening(port)
    using us = ours(game, port, address)
    await finish(game, us, them)
  })
}

function testTheirsCalling(game: Game): void {
  test(`${game.name}: theirs calls ours`, async () => {
    const port = nextPort++
    using us = ours(game, port)
    await us.until(/listening on port/)
    using them = theirs(game, port, address)
    await finish(game, us, them)
  })
}

/** rdma-core's servers say nothing when they listen; /proc/net knows. */
async function untilListening(port: number): Promise<void> {
  using probe = startProgram(
    'sh',
    '-c',
    `until grep -qi ':${port.toString(16)} 0*:0000 0A' /proc/net/tcp /proc/net/tcp6; do sleep 0.1; done`,
  )
  await probe.finished()
}
