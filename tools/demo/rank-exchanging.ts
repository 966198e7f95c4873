import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { splitBlocks } from './block-split.ts'
import { DemoError } from './demo-error.ts'
import type { DemoRedis } from './demo-redis.ts'
import { type AloneOutcome, haveSameBits } from './pagerank-part.ts'
import type { ExchangeReply, ExchangeTask } from './rank-exchange.ts'

const script = fileURLToPath(new URL('./exchange-process.js', import.meta.url))
/** The finest split; without shared pages nothing asks for a coarser one. */
const splitBytes = 4096

/** The graph ranked by processes that send their data to each other. */
export interface ExchangeOutcome {
  readonly way: 'messages' | 'redis'
  readonly processes: number
  readonly totalMs: number
  readonly iterations: number
  readonly same: boolean
}

/**
 * Rank the graph in processes without shared memory. Each has a copy of the graph. After each iteration it sends
 * only what others read, through Redis or as messages that pass through this process.
 * @throws DemoError if one of them ends early.
 */
export async function rankExchanging(
  { graph, ranks: expected }: AloneOutcome,
  processes: number,
  redis?: DemoRedis,
): Promise<ExchangeOutcome> {
  const bounds = splitBlocks(graph.offsets, processes, splitBytes)
  const children = Array.from({ length: processes }, () => fork(script, { serialization: 'advanced' }))
  let ready = 0
  const ended = Promise.all(children.map(endOf))
  try {
    return await Promise.race([run(), ended.then(() => Promise.reject(new DemoError('a process ended early')))])
  } finally {
    for (const child of children) if (child.connected) child.disconnect()
    await ended.catch(() => {})
  }

  async function run(): Promise<ExchangeOutcome> {
    const replies = children.map(repliesOf)
    for (const [rank, child] of children.entries())
      tell(child, { kind: 'prepare', graph, bounds, rank, redis: redis?.directory })
    const results = await Promise.all(replies)
    const ranks = new Float64Array(expected.length)
    let end = 0
    for (const result of results) {
      ranks.set(result.ranks, end)
      end += result.ranks.length
    }
    return {
      way: redis === undefined ? 'messages' : 'redis',
      processes,
      totalMs: Math.max(...results.map(({ totalMs }) => totalMs)),
      iterations: results[0]!.iterations,
      same: haveSameBits(ranks, expected),
    }
  }

  function repliesOf(child: ChildProcess): Promise<Done> {
    return new Promise((resolve) => {
      child.on('message', (reply: ExchangeReply) => {
        if (reply.kind === 'done') resolve(reply)
        else if (reply.kind === 'ready') letGo()
        else for (const other of children) if (other !== child) tell(other, reply)
      })
    })
  }

  /** All start together. */
  function letGo(): void {
    ready = (ready + 1) % processes
    if (ready === 0) for (const child of children) tell(child, { kind: 'go' })
  }
}

type Done = Extract<ExchangeReply, { kind: 'done' }>

/** Rejects if it ends by anything but the loss of its channel. */
async function endOf(child: ChildProcess): Promise<void> {
  const [status, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null]
  if (status !== 0) throw new DemoError(`a process that exchanges data ended with ${signal ?? `status ${status}`}`)
}

function tell(child: ChildProcess, task: ExchangeTask): void {
  if (child.connected) child.send(task)
}
