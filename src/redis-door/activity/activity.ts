import { Buffer } from 'node:buffer'
import type { SlowLog } from '../../index-service/index.ts'
import type { DoorClient } from '../connection/client.ts'
import type { Request } from '../protocol/request.ts'
import type { DoorParameters } from '../settings/door-parameters.ts'
import { type CommandCount, DoorStatistics } from './command-statistics.ts'
import { LatencyEvents } from './latency-events.ts'
import { type CommandOrigin, monitorLine } from './monitor-line.ts'

/** Names of commands that neither MONITOR nor the slow log shows: they carry passwords, or show those logs. */
const hidden: ReadonlySet<string> = new Set(['auth', 'hello', 'acl', 'config', 'monitor', 'slowlog', 'debug', 'exec'])

const EXEC: Request = { name: 'exec', args: [] }

/** What was done, for those who look after the door: counters, what took long, and who listens to all commands. */
export class Activity {
  readonly statistics: DoorStatistics = new DoorStatistics()
  readonly slowLog: SlowLog
  readonly latency: LatencyEvents = new LatencyEvents()
  readonly monitors: Set<DoorClient> = new Set<DoorClient>()
  readonly #parameters: DoorParameters

  /** `slowLog`: of the node, for all its clients. */
  constructor(parameters: DoorParameters, slowLog: SlowLog) {
    this.#parameters = parameters
    this.slowLog = slowLog
  }

  /** A command begins. `name` is in lower case. */
  began(client: DoorClient, name: string, request: Request): void {
    client.lastCommand = name
    if (this.monitors.size > 0) this.show({ db: client.db, source: client.line.address }, request)
  }

  /** MONITOR shows what a client or a script has called. */
  show(origin: CommandOrigin, request: Request): void {
    if (this.monitors.size > 0 && !hidden.has(request.name.toLowerCase())) this.#showLine(origin, request)
  }

  /** Commands are done that waited for EXEC. MONITOR shows it behind them. */
  executed({ db, line }: DoorClient): void {
    this.#showLine({ db, source: line.address }, EXEC)
  }

  /** A read that memory answered: it takes less than a microsecond, and is counted without its time. */
  looked(client: DoorClient, name: string, request: Request): void {
    this.began(client, name, request)
    const count = this.statistics.of(name)
    count.calls += 1
    if (this.#parameters.tracksLatency) count.times.looks += 1
  }

  /** A command was run: of a client, or of a script. */
  counted(count: CommandCount, tookMs: number, calls: number = 1): void {
    count.calls += calls
    count.usec += calls * Math.round(tookMs * 1000)
    if (this.#parameters.tracksLatency) count.times.add(tookMs, calls)
  }

  /** The same of many, which were not looked at one by one. No one monitors. */
  lookedAtMany(client: DoorClient, name: string, count: number): void {
    if (count === 0) return
    client.lastCommand = name
    const known = this.statistics.of(name)
    known.calls += count
    if (this.#parameters.tracksLatency) known.times.looks += count
  }

  /** It is answered. */
  ended(client: DoorClient, name: string, request: Request, tookMs: number): void {
    this.counted(this.statistics.ofCall(name, request.args), tookMs)
    const usec = Math.round(tookMs * 1000)
    const { latencyThresholdMs } = this.#parameters
    if (this.slowLog.isSlow(usec) && !hidden.has(name)) {
      const args = [Buffer.from(request.name, 'latin1'), ...request.args]
      const { name: clientName, line } = client
      this.slowLog.add({ timeMs: Date.now(), usec, args, address: line.address, clientName })
    }
    if (latencyThresholdMs > 0 && tookMs >= latencyThresholdMs) this.latency.add('command', Math.floor(tookMs))
  }

  /**
   * Each of many is answered, which took equally long: see {@link ended}. They are of commands without subcommands, and
   * their `requests` are read only if they took long.
   */
  endedMany(client: DoorClient, names: readonly string[], tookMs: number, requests: () => readonly Request[]): void {
    client.lastCommand = names.at(-1)!
    const { latencyThresholdMs } = this.#parameters
    const isSlow = this.slowLog.isSlow(Math.round(tookMs * 1000))
    if (isSlow || (latencyThresholdMs > 0 && tookMs >= latencyThresholdMs)) {
      for (const [at, request] of requests().entries()) this.ended(client, names[at]!, request, tookMs)
      return
    }
    for (let at = 0; at < names.length; ) {
      const begin = at
      while (at < names.length && names[at] === names[begin]) at += 1
      this.counted(this.statistics.of(names[begin]!), tookMs, at - begin)
    }
  }

  #showLine(origin: CommandOrigin, request: Request): void {
    if (this.monitors.size === 0) return
    const line = monitorLine(origin, request)
    for (const monitor of this.monitors) monitor.line.push(line)
  }
}
