import { type ChildProcess, spawn } from 'node:child_process'
import process from 'node:process'
import { PassThrough, type Readable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { fileURLToPath } from 'node:url'
import type { LaunchedRank, RankEnd } from '../launched-rank.ts'
import type { RankCommand } from '../rank-process.ts'
import { encodeFrame, FrameReader, FrameTooLongError } from './frames.ts'
import type { HostShare } from './host-slots.ts'
import {
  ALIVE_MS,
  checkReport,
  FrameKind,
  OPENING_LINE,
  OUTPUT_HEAD_BYTES,
  REMOTE_FRAME_BYTES_MAX,
  type RemoteOrder,
  type RemoteReport,
} from './remote-protocol.ts'

const HELPER = fileURLToPath(new URL('./remote-helper.js', import.meta.url))
/** What a login may print before the helper begins, in bytes. */
const GREETING_BYTES_MAX = 65_536
/** How long a host has to report the end of a rank that was sent SIGKILL. */
const LOST_MS = 5000
/** The status of ssh if the connection failed; ours for a rank that was lost with it. */
const LOST_STATUS = 255

export interface RemoteHostOptions {
  /** Words before the name of the host: `ssh` and its options. */
  readonly ssh: readonly string[]
  /** Node on the other host. */
  readonly node: string
  readonly command: RankCommand
  readonly host: string | undefined
  readonly port: number
  readonly secret: Buffer
}

/** The ranks of one host, run by a helper that an ssh started there. */
export class RemoteHost {
  readonly host: string
  readonly ranks: readonly RemoteRank[]
  readonly #child: ChildProcess
  readonly #reader = new FrameReader(REMOTE_FRAME_BYTES_MAX)
  readonly #byRank: ReadonlyMap<number, RemoteRank>
  readonly #alive: NodeJS.Timeout
  /** What has arrived before the helper's first frame. */
  #greeting: Buffer | undefined = Buffer.alloc(0)
  #over = false

  constructor(share: HostShare, options: RemoteHostOptions) {
    this.host = share.host
    this.ranks = share.ranks.map((rank) => new RemoteRank(rank, this))
    this.#byRank = new Map(this.ranks.map((rank) => [rank.rank, rank]))
    const [program = 'ssh', ...words] = options.ssh
    this.#child = spawn(program, [...words, share.host, `exec ${quote(options.node)} ${quote(HELPER)}`], {
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe'],
    })
    this.#child.stdin?.on('error', () => {})
    this.#child.stdout?.on('data', (chunk: Buffer) => this.#receive(chunk))
    this.#child.once('error', (error) => this.#lost(`${program} could not be started: ${error.message}`))
    this.#child.once('close', (code, signal) =>
      this.#lost(`the connection to it ended (${program} ended with ${signal ?? code})`),
    )
    this.#alive = setInterval(() => this.#order({ type: 'alive' }), ALIVE_MS)
    this.#order({
      type: 'start',
      command: options.command,
      ranks: share.ranks,
      directory: process.cwd(),
      host: options.host ?? null,
      port: options.port,
      secret: options.secret.toString('base64'),
    })
  }

  /** The process of the ssh; 0 if it could not be started. */
  get processId(): number {
    return this.#child.pid ?? 0
  }

  /** What ssh itself says, and what a login there printed. */
  get stderr(): Readable {
    return this.#child.stderr!
  }

  /** Resume reading what the host says. */
  resume(): void {
    this.#child.stdout?.resume()
  }

  /** One of its ranks has more output than can be passed on. */
  pause(): void {
    this.#child.stdout?.pause()
  }

  signal(rank: number, signal: NodeJS.Signals): void {
    this.#order({ type: 'signal', rank, signal })
    if (signal === 'SIGKILL') setTimeout(() => this.abandon(`it did not answer`), LOST_MS).unref()
  }

  /** Give the host up: what still runs there ends once it notices. */
  abandon(why: string): void {
    this.#lost(why)
  }

  #order(order: RemoteOrder): void {
    const stdin = this.#child.stdin!
    if (!stdin.destroyed) stdin.write(encodeFrame(Buffer.from(JSON.stringify(order))))
  }

  #receive(chunk: Buffer): void {
    if (this.#greeting === undefined) this.#reader.push(chunk)
    else this.#awaitOpening(chunk)
    try {
      for (let frame = this.#reader.next(); frame !== undefined; frame = this.#reader.next()) this.#take(frame)
    } catch (error) {
      if (!(error instanceof FrameTooLongError)) throw error
      this.#lost('it sent an unknown message')
    }
  }

  #awaitOpening(chunk: Buffer): void {
    const greeting = Buffer.concat([this.#greeting ?? Buffer.alloc(0), chunk])
    const at = greeting.indexOf(OPENING_LINE)
    if (at >= 0) {
      this.#greeting = undefined
      this.#reader.push(greeting.subarray(at + OPENING_LINE.length))
    } else {
      this.#greeting = greeting.subarray(-GREETING_BYTES_MAX)
    }
  }

  #take(frame: Buffer): void {
    if (frame[0] === FrameKind.Message) {
      const report = checkReport(frame.toString('utf8', 1))
      if (report === undefined) this.#lost('it sent an unknown message')
      else this.#hear(report)
    } else if (frame.length >= OUTPUT_HEAD_BYTES) {
      const rank = this.#byRank.get(frame.readUInt16BE(1))
      rank?.write(frame[0] === FrameKind.Output, frame.subarray(OUTPUT_HEAD_BYTES))
    }
  }

  #hear(report: RemoteReport): void {
    if (report.type === 'failed') this.#lost(report.message)
    else this.#byRank.get(report.rank)?.hear(report)
    if (this.ranks.every((rank) => rank.isDrained)) this.#finish()
  }

  #lost(why: string): void {
    const said = this.#greeting?.toString().trim() ?? ''
    this.#finish()
    for (const rank of this.ranks)
      rank.lose(`${this.host}: ${why}${said === '' ? '' : `; it said: ${said.slice(-500)}`}`)
  }

  #finish(): void {
    if (this.#over) return
    this.#over = true
    clearInterval(this.#alive)
    this.#child.stdin?.end()
    // An ssh whose host is gone would wait for it.
    setTimeout(() => this.#child.kill('SIGKILL'), LOST_MS).unref()
  }
}

/** One rank on another host. */
export class RemoteRank implements LaunchedRank {
  readonly rank: number
  readonly stdout: PassThrough = new PassThrough()
  readonly stderr: PassThrough = new PassThrough()
  readonly #host: RemoteHost
  readonly #ended: Promise<RankEnd>
  readonly #drained: Promise<void>
  #end: (end: RankEnd) => void = () => {}
  #processId = 0
  #hasEnded = false
  #isDrained = false

  constructor(rank: number, host: RemoteHost) {
    this.rank = rank
    this.#host = host
    this.#ended = new Promise((resolve) => (this.#end = resolve))
    this.#drained = Promise.all([finished(this.stdout), finished(this.stderr)]).then(() => {})
    for (const stream of [this.stdout, this.stderr]) stream.on('drain', () => host.resume())
  }

  get processId(): number {
    return this.#processId
  }

  get canRun(): boolean {
    return true
  }

  get host(): string {
    return this.#host.host
  }

  get isDrained(): boolean {
    return this.#isDrained
  }

  /** It runs as soon as its host has started it. */
  start(): void {}

  ended(): Promise<RankEnd> {
    return this.#ended
  }

  drained(): Promise<void> {
    return this.#drained
  }

  kill(signal: NodeJS.Signals): void {
    if (!this.#hasEnded) this.#host.signal(this.rank, signal)
  }

  /** @internal Of the host. */
  write(isOutput: boolean, bytes: Buffer): void {
    const stream = isOutput ? this.stdout : this.stderr
    if (!stream.write(bytes)) this.#host.pause()
  }

  /** @internal Of the host. */
  hear(report: Exclude<RemoteReport, { type: 'failed' }>): void {
    if (report.type === 'started') this.#processId = report.processId
    else if (report.type === 'drained') this.#finish()
    else {
      const { exitCode, signal, error } = report
      this.#hasEnded = true
      this.#end({ exitCode, signal, error: error === null ? undefined : new Error(error) })
    }
  }

  /** @internal Of the host. */
  lose(why: string): void {
    if (!this.#hasEnded) this.#end({ exitCode: LOST_STATUS, signal: null, error: new Error(why) })
    this.#hasEnded = true
    this.#finish()
  }

  #finish(): void {
    if (this.#isDrained) return
    this.#isDrained = true
    this.stdout.end()
    this.stderr.end()
  }
}

/** For the shell of a login. */
function quote(word: string): string {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`
}
