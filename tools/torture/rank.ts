/**
 * One process of a torture: `node rank.js PLAN`, with PLAN a {@link TorturePlan} as JSON. It says when it is ready, and
 * goes on until it is told to stop, or killed.
 */
import { join as joinPath } from 'node:path'
import process from 'node:process'
import { setTimeout as sleep } from 'node:timers/promises'
import { join, PageLostError } from 'aether-dsm/internal/dsm'
import { Random } from 'aether-dsm/internal/runtime'
import { AccessLog } from './access-log.ts'
import type { TortureAccessKind } from './history.ts'
import { readStamp, writeStamp } from './page-stamp.ts'
import type { OpenTortureMemory, TortureMemory } from './torture-memory.ts'
import type { TorturePlan, TortureReply } from './torture-plan.ts'

/** Of a hundred accesses. */
const WRITES = 40
const RELEASES = 4
/** One access in so many is followed by a pause, so that others have their pages for a while. */
const PAUSE_EVERY = 8
const PAUSE_MS_MAX = 3
/** A page that is lost is looked at again now and then: it has to stay so. */
const LOOK_AGAIN_EVERY = 32

class TornError extends Error {
  override readonly name = 'TornError'
}

class Rank {
  readonly #rank: number
  readonly #plan: TorturePlan
  readonly #memory: TortureMemory
  readonly #log: AccessLog
  readonly #random: Random
  readonly #lost = new Set<number>()
  #stopped = false

  constructor(rank: number, plan: TorturePlan, memory: TortureMemory, log: AccessLog) {
    this.#rank = rank
    this.#plan = plan
    this.#memory = memory
    this.#log = log
    this.#random = new Random(plan.seed + rank)
  }

  stop(): void {
    this.#stopped = true
  }

  async run(): Promise<void> {
    const random = this.#random
    while (!this.#stopped) {
      const page = random.below(this.#plan.pages)
      if (this.#lost.has(page) && random.below(LOOK_AGAIN_EVERY) > 0) await sleep(0)
      else await this.#access(drawKind(random), page)
      if (random.below(PAUSE_EVERY) === 0) await sleep(random.below(PAUSE_MS_MAX + 1))
    }
    for (let page = 0; page < this.#plan.pages; page += 1) await this.#access('read', page)
  }

  async #access(kind: TortureAccessKind, page: number): Promise<void> {
    this.#log.began(kind, page)
    try {
      if (kind === 'read') this.#see(page, await this.#memory.read(page))
      else if (kind === 'write') await this.#memory.update(page, (words) => this.#write(page, words))
      else await this.#memory.release(page)
      this.#log.ended('done')
    } catch (error) {
      this.#endedBy(error as Error, page)
    }
  }

  #see(page: number, words: Uint32Array): number {
    const stamp = readStamp(words, page)
    if (typeof stamp === 'string') throw new TornError(stamp)
    this.#log.saw(stamp)
    return stamp.version
  }

  #write(page: number, words: Uint32Array): void {
    writeStamp(words, page, { version: this.#see(page, words) + 1, writer: this.#rank })
  }

  #endedBy(error: Error, page: number): void {
    if (error instanceof PageLostError) {
      this.#lost.add(page)
      this.#log.ended('lost')
    } else if (error instanceof TornError) this.#log.ended('torn', error.message)
    else this.#log.ended('failed', error.stack ?? error.message)
  }
}

function drawKind(random: Random): TortureAccessKind {
  const draw = random.below(100)
  return draw < WRITES ? 'write' : draw < WRITES + RELEASES ? 'release' : 'read'
}

function say(reply: TortureReply): void {
  process.send?.(reply)
}

// The process that started this one is gone.
const orphaned = (): never => process.exit(1)
process.once('disconnect', orphaned)
const plan = JSON.parse(process.argv[2]!) as TorturePlan
const { openMemory } = (await import(plan.memoryUrl)) as { openMemory: OpenTortureMemory }
{
  await using group = await join({ leaseMs: plan.leaseMs })
  const memory = await openMemory(group, plan)
  const log = new AccessLog(joinPath(plan.logs, String(group.rank)))
  const rank = new Rank(group.rank, plan, memory, log)
  process.on('message', () => rank.stop())
  await group.barrier()
  say('ready')
  await rank.run()
  say('done')
  log.close()
  await memory.close()
}
process.off('disconnect', orphaned)
process.disconnect()
