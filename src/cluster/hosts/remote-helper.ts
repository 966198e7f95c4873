/**
 * What `aether run --hosts` starts on every host: it runs the ranks of that host for a launcher elsewhere. Their output
 * goes through its standard output. Its standard input says what to do, and when that ends, so do the ranks.
 */
import { randomBytes } from 'node:crypto'
import { closeSync, openSync, unlinkSync, writeFileSync } from 'node:fs'
import { Socket } from 'node:net'
import { hostname } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import type { Readable } from 'node:stream'
import { runtimeDirectory } from '../../runtime/index.ts'
import { OrphanGuard } from '../orphan-guard.ts'
import { RankProcess } from '../rank-process.ts'
import { encodeFrame, FrameReader } from './frames.ts'
import {
  ALIVE_MS_MAX,
  FrameKind,
  OPENING_LINE,
  OUTPUT_HEAD_BYTES,
  REMOTE_FRAME_BYTES_MAX,
  type RemoteOrder,
  type RemoteReport,
  type StartOrder,
} from './remote-protocol.ts'

class Helper {
  readonly #guard = new OrphanGuard()
  readonly #ranks = new Map<number, RankProcess>()
  /** Not `process.stdout`, which blocks if the launcher is slow to read. */
  readonly #output = new Socket({ fd: 1, readable: false, writable: true })
  readonly #paused = new Set<Readable>()
  #running = 0
  #deadline: NodeJS.Timeout | undefined

  run(): void {
    const reader = new FrameReader(REMOTE_FRAME_BYTES_MAX)
    this.#output.on('error', () => this.#abandon())
    this.#output.on('drain', () => this.#resume())
    this.#output.write(OPENING_LINE)
    process.stdin.on('data', (chunk: Buffer) => {
      reader.push(chunk)
      for (let frame = reader.next(); frame !== undefined; frame = reader.next())
        this.#obey(JSON.parse(frame.toString()) as RemoteOrder)
    })
    for (const event of ['end', 'error', 'close']) process.stdin.on(event, () => this.#abandon())
    // Signals of a terminal come through the launcher, which passes them on.
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGPIPE'] as const) process.on(signal, () => {})
    this.#awaitLife()
  }

  #obey(order: RemoteOrder): void {
    this.#awaitLife()
    if (order.type === 'signal') this.#ranks.get(order.rank)?.kill(order.signal)
    if (order.type !== 'start') return
    try {
      this.#start(order)
    } catch (error) {
      this.#report({ type: 'failed', message: (error as Error).message })
    }
  }

  #start({ command, ranks, directory, host, port, secret }: StartOrder): void {
    process.chdir(directory)
    const descriptor = hiddenFile(Buffer.from(secret, 'base64'))
    const address = host ?? callerAddress()
    const rendezvous = `launcher:${address.includes(':') ? `[${address}]` : address}:${port}`
    for (const rank of ranks)
      void this.#runRank(new RankProcess(rank, command, { rendezvous, secret: descriptor, input: false }))
    closeSync(descriptor)
  }

  async #runRank(rank: RankProcess): Promise<void> {
    this.#running += 1
    this.#ranks.set(rank.rank, rank)
    const ended = rank.ended()
    const drained = rank.drained()
    if (rank.processId > 0) this.#attend(rank)
    const { exitCode, signal, error } = await ended
    this.#guard.remove(rank.processId)
    this.#report({ type: 'ended', rank: rank.rank, exitCode, signal, error: error?.message ?? null })
    await drained
    this.#report({ type: 'drained', rank: rank.rank })
    if (--this.#running === 0) this.#finish()
  }

  #attend(rank: RankProcess): void {
    this.#copy(rank.stdout, FrameKind.Output, rank.rank)
    this.#copy(rank.stderr, FrameKind.ErrorOutput, rank.rank)
    this.#guard.add(rank.processId)
    rank.start()
    this.#report({ type: 'started', rank: rank.rank, processId: rank.processId })
  }

  #copy(source: Readable, kind: number, rank: number): void {
    source.on('data', (chunk: Buffer) => {
      const head = Buffer.alloc(OUTPUT_HEAD_BYTES)
      head.writeUInt8(kind)
      head.writeUInt16BE(rank, 1)
      if (this.#output.write(encodeFrame(Buffer.concat([head, chunk])))) return
      source.pause()
      this.#paused.add(source)
    })
  }

  #resume(): void {
    for (const source of this.#paused) source.resume()
    this.#paused.clear()
  }

  #report(report: RemoteReport): void {
    this.#output.write(encodeFrame(Buffer.concat([Buffer.of(FrameKind.Message), Buffer.from(JSON.stringify(report))])))
  }

  #awaitLife(): void {
    clearTimeout(this.#deadline)
    this.#deadline = setTimeout(() => this.#abandon(), ALIVE_MS_MAX)
  }

  #finish(): void {
    clearTimeout(this.#deadline)
    this.#guard.close()
    process.stdin.removeAllListeners().destroy()
    this.#output.end()
  }

  /** The launcher is gone. */
  #abandon(): void {
    for (const rank of this.#ranks.values()) rank.kill('SIGKILL')
    process.exit(1)
  }
}

/** A descriptor from which the bytes can be read; the file has no name any more. */
function hiddenFile(bytes: Buffer): number {
  const path = join(runtimeDirectory('secrets'), randomBytes(16).toString('hex'))
  writeFileSync(path, bytes, { mode: 0o600, flag: 'wx' })
  try {
    return openSync(path, 'r')
  } finally {
    unlinkSync(path)
  }
}

/** sshd(8) says where the caller is; without it, the launcher must be on this machine. */
function callerAddress(): string {
  return process.env['SSH_CONNECTION']?.split(' ')[0] ?? hostname()
}

new Helper().run()
