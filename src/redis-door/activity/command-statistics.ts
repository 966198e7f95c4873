import { latin1Of } from '../../index-service/index.ts'
import { entryNamed } from '../catalogue/catalogue.ts'
import { CommandTimes } from './command-times.ts'

/** How often a command ran, how long it took, and how often it was refused or failed. */
export class CommandCount {
  calls = 0
  usec = 0
  rejected = 0
  failed = 0
  readonly times: CommandTimes = new CommandTimes()
  /** Each of its subcommands is counted by itself. */
  readonly hasSubcommands: boolean

  constructor(hasSubcommands: boolean) {
    this.hasSubcommands = hasSubcommands
  }
}

/** Different codes of errors that are counted. */
const CODES_MAX = 128
/** No name of a subcommand is longer. */
const NAME_BYTES_MAX = 64

/** What INFO counts, since the door was opened or CONFIG RESETSTAT. */
export class DoorStatistics {
  readonly #byCommand = new Map<string, CommandCount>()
  readonly #byCode = new Map<string, number>()
  connections = 0
  refusedConnections = 0
  /** Connections that were ended because their clients did not read. */
  slowConnections = 0
  receivedBytes = 0
  sentBytes = 0
  lookHits = 0
  lookMisses = 0

  /** By name: commands that were run, or refused. */
  get commands(): readonly (readonly [name: string, count: CommandCount])[] {
    return [...this.#byCommand].filter(([, { calls, rejected, failed }]) => calls + rejected + failed > 0)
  }

  get codes(): ReadonlyMap<string, number> {
    return this.#byCode
  }

  of(name: string): CommandCount {
    const known = this.#byCommand.get(name)
    if (known !== undefined) return known
    const count = new CommandCount((entryNamed(name)?.subcommands.length ?? 0) > 0)
    this.#byCommand.set(name, count)
    return count
  }

  /** The count of the subcommand that the arguments name, such as `client|list`, or that of the command. */
  ofCall(name: string, args: readonly Uint8Array[]): CommandCount {
    const count = this.of(name)
    if (!count.hasSubcommands || args.length === 0) return count
    const subcommand = `${name}|${latin1Of(args[0]!.subarray(0, NAME_BYTES_MAX)).toLowerCase()}`
    return entryNamed(subcommand) === undefined ? count : this.of(subcommand)
  }

  /** It was refused before it was run. A subcommand that there is not is no command, so it does not count. */
  reject(name: string, args: readonly Uint8Array[]): void {
    const count = this.ofCall(name, args)
    if (!count.hasSubcommands || args.length === 0) count.rejected += 1
  }

  fault(code: string): void {
    const known = this.#byCode.get(code) ?? 0
    if (known > 0 || this.#byCode.size < CODES_MAX) this.#byCode.set(code, known + 1)
  }

  reset(): void {
    this.#byCommand.clear()
    this.#byCode.clear()
    this.connections = 0
    this.refusedConnections = 0
    this.slowConnections = 0
    this.receivedBytes = 0
    this.sentBytes = 0
    this.lookHits = 0
    this.lookMisses = 0
  }
}
