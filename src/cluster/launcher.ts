import { constants } from 'node:os'
import process from 'node:process'
import { checkLaunch, type FailurePolicy, type LaunchOptions, type LaunchPlan } from './launch-options.ts'
import type { LaunchedRank, RankEnd } from './launched-rank.ts'
import { LineOutput, rankPrefix } from './line-output.ts'
import { OrphanGuard } from './orphan-guard.ts'
import { type RankStarter, startRanks } from './rank-starter.ts'
import { reclaimSpaces } from './reclaim.ts'

export type { FailurePolicy, LaunchOptions }

/** One rank that failed by itself. */
export interface RankFailure {
  readonly rank: number
  readonly processId: number
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
  /** The same as a sentence. */
  readonly message: string
}

export interface LaunchResult {
  /** 0, or the status of the first rank that failed: its exit code, or 128 + the number of the signal that ended it. */
  readonly status: number
  /** In the order in which they happened, without ranks that ended because they were stopped. */
  readonly failures: readonly RankFailure[]
}

/** The exit status of a rank whose agent failed: the agent ends the process at once. */
const AGENT_FAILED = 70
const FORWARDED: readonly NodeJS.Signals[] = ['SIGINT', 'SIGTERM', 'SIGHUP']
/** The status of a rank that is lost with its host, as ssh reports it. */
const LOST_STATUS = 255
/** How long after the end of a rank its output may still arrive. */
const DRAIN_MS = 2000

/**
 * Run a script as N ranks of one group and wait for all of them.
 *
 * Each rank finds `AETHER_RANK`, `AETHER_SIZE` and `AETHER_RENDEZVOUS` in its environment and calls `join()`. Output
 * comes line by line, prefixed with the rank. SIGINT, SIGTERM and SIGHUP are passed on, followed after a grace by
 * SIGKILL; a second signal kills at once. No rank outlives the launcher, even if that is killed.
 * @throws ArgumentError or AccessError before any rank is started.
 */
export async function launch(options: LaunchOptions): Promise<LaunchResult> {
  const plan = checkLaunch(options, process.stdout, process.stderr)
  if (process.platform === 'linux') reclaimSpaces()
  return await new Launch(plan).run()
}

class Launch {
  readonly #plan: LaunchPlan
  readonly #guard = new OrphanGuard()
  #starter: RankStarter | undefined
  #ranks: readonly LaunchedRank[] = []
  /** Ranks that have fallen silent. */
  readonly #silent = new Set<number>()
  readonly #failures: RankFailure[] = []
  readonly #stdout: LineOutput
  readonly #stderr: LineOutput
  readonly #onSignal = (signal: NodeJS.Signals): void => this.#interrupt(signal)
  readonly #onAbort = (): void => this.#interrupt('SIGTERM')
  /** EPIPE: no one reads our output any more. */
  readonly #onBroken = (): void => this.#stop('SIGTERM')
  #stopping: NodeJS.Signals | undefined
  #interruptedBy: NodeJS.Signals | undefined
  #killTimer: NodeJS.Timeout | undefined

  constructor(plan: LaunchPlan) {
    this.#plan = plan
    this.#stdout = new LineOutput(plan.stdout)
    this.#stderr = new LineOutput(plan.stderr)
  }

  async run(): Promise<LaunchResult> {
    this.#listen()
    try {
      this.#starter = await startRanks(this.#plan, {
        say: (text) => this.#say(text),
        silent: (rank, why) => this.#giveUp(rank, why),
      })
      this.#ranks = this.#starter.ranks
      for (const host of this.#starter.hosts) {
        this.#guard.add(host.processId)
        this.#stderr.add(host.stderr, `[${host.host}] `)
      }
      const ends = this.#ranks.map((rank) => this.#start(rank))
      if (this.#plan.signal?.aborted === true) this.#onAbort()
      await Promise.all(ends)
    } finally {
      this.#unlisten()
    }
    return { status: this.#status(), failures: this.#failures }
  }

  async #start(rank: LaunchedRank): Promise<void> {
    const ended = rank.ended()
    const drained = rank.drained()
    if (rank.canRun) this.#attend(rank)
    const end = await ended
    if (rank.host === undefined) this.#guard.remove(rank.processId)
    this.#note(rank, end)
    await Promise.race([drained, pause(DRAIN_MS)])
  }

  #attend(rank: LaunchedRank): void {
    const { stdout, stderr, ranks } = this.#plan
    this.#stdout.add(rank.stdout, rankPrefix(rank.rank, ranks, isColoured(stdout)))
    this.#stderr.add(rank.stderr, rankPrefix(rank.rank, ranks, isColoured(stderr)))
    if (rank.host === undefined) this.#guard.add(rank.processId)
    rank.start()
  }

  #note(rank: LaunchedRank, end: RankEnd): void {
    if (end.exitCode === 0 || this.#silent.has(rank.rank)) return
    const wasStopped = this.#stopping !== undefined && (end.signal === this.#stopping || end.signal === 'SIGKILL')
    const { exitCode, signal } = end
    const failure = { rank: rank.rank, processId: rank.processId, exitCode, signal, message: describe(rank, end) }
    if (wasStopped) {
      if (signal === 'SIGKILL') this.#say(`rank ${rank.rank} did not end after ${this.#stopping} and was killed`)
      return
    }
    this.#failures.push(failure)
    this.#say(failure.message)
    if (this.#plan.onFailure === 'stop') this.#stop('SIGTERM')
  }

  /** Its host may be gone, or the rank is stopped. In either case the ranks that compute with it cannot continue. */
  #giveUp(rank: number, why: string): void {
    const { processId, host } = this.#ranks[rank]!
    this.#silent.add(rank)
    const message = `rank ${rank} (process ${processId} on ${host}) is lost: ${why}`
    this.#failures.push({ rank, processId, exitCode: LOST_STATUS, signal: null, message })
    this.#say(message)
    if (this.#plan.onFailure === 'stop') this.#stop('SIGTERM')
    else this.#ranks[rank]!.kill('SIGKILL')
  }

  #interrupt(signal: NodeJS.Signals): void {
    this.#interruptedBy ??= signal
    this.#stop(signal)
  }

  /** Ask all ranks to end, and enforce it after the grace; if asked twice, enforce it now. */
  #stop(signal: NodeJS.Signals): void {
    const again = this.#stopping !== undefined && this.#interruptedBy !== undefined
    const wanted = again ? 'SIGKILL' : signal
    this.#stopping ??= signal
    for (const rank of this.#ranks) rank.kill(wanted)
    this.#killTimer ??= setTimeout(() => this.#killAll(), this.#plan.graceMs)
  }

  #killAll(): void {
    for (const rank of this.#ranks) rank.kill('SIGKILL')
  }

  #say(text: string): void {
    if (!this.#plan.stderr.destroyed) this.#plan.stderr.write(`aether: ${text}\n`)
  }

  #status(): number {
    const [first] = this.#failures
    if (first !== undefined) return first.exitCode ?? 128 + signalNumber(first.signal)
    return this.#interruptedBy === undefined ? 0 : 128 + signalNumber(this.#interruptedBy)
  }

  #listen(): void {
    for (const signal of FORWARDED) process.on(signal, this.#onSignal)
    this.#plan.signal?.addEventListener('abort', this.#onAbort)
    this.#plan.stdout.on('error', this.#onBroken)
    this.#plan.stderr.on('error', this.#onBroken)
  }

  #unlisten(): void {
    clearTimeout(this.#killTimer)
    for (const signal of FORWARDED) process.off(signal, this.#onSignal)
    this.#plan.signal?.removeEventListener('abort', this.#onAbort)
    this.#plan.stdout.off('error', this.#onBroken)
    this.#plan.stderr.off('error', this.#onBroken)
    this.#stdout.close()
    this.#stderr.close()
    this.#guard.close()
    this.#starter?.close()
    for (const host of this.#starter?.hosts ?? []) this.#guard.remove(host.processId)
  }
}

function describe(rank: LaunchedRank, end: RankEnd): string {
  const where = rank.host === undefined ? '' : ` on ${rank.host}`
  const who = `rank ${rank.rank} (process ${rank.processId}${where})`
  if (end.error !== undefined && rank.processId > 0) return `${who} is lost: ${end.error.message}`
  if (end.error !== undefined) return `rank ${rank.rank} could not be started: ${end.error.message}`
  if (end.signal !== null) return `${who} was ended by ${end.signal}`
  const meaning =
    end.exitCode === AGENT_FAILED ? ': its agent failed, which ends the process at once; its last lines say why' : ''
  return `${who} exited with code ${end.exitCode}${meaning}`
}

function signalNumber(signal: NodeJS.Signals | null): number {
  return signal === null ? 1 : constants.signals[signal]
}

function isColoured(stream: object): boolean {
  return 'isTTY' in stream && stream.isTTY === true && process.env['NO_COLOR'] === undefined
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref())
}
