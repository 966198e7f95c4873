import process from 'node:process'
import {
  type AppendPolicy,
  CommandFault,
  EVICTION_POLICIES,
  type EvictionPolicy,
  type IndexNode,
} from '../../index-service/index.ts'
import { formatFlags, type Notifications, parseFlags } from '../publish/notifications.ts'
import type { DoorSettings } from './door-settings.ts'
import { keptParameters } from './kept-parameters.ts'
import { type OutputClass, type OutputLimit, outputLimitParameter } from './output-limits.ts'
import { choice, fixed, flag, memory, only, type Parameter, text, whole } from './parameter.ts'

const APPEND_OPENED =
  'when the disk has a write is chosen when the index begins; start the server with another --append'
const MEMORY_OPENED = 'the index has less memory; start the server with another --memory'
const WHERE_OPENED = 'the server listens where it was started; start it with another --port or --bind'

type DoorNode = Pick<IndexNode, 'memoryBytes' | 'eviction' | 'append' | 'slowLog'>

/** What CONFIG GET and CONFIG SET know, and what connections read on each request, as numbers. */
export class DoorParameters {
  readonly #byName = new Map<string, Parameter>()
  readonly #changed: ((name: string) => void)[] = []
  clientsMax = 0
  timeoutSeconds = 0
  keepAliveSeconds = 0
  bulkBytesMax = 0
  queryBytesMax = 0
  latencyThresholdMs = 0
  trackedKeysMax = 0
  tracksLatency = true
  /** What INFO tells of the times of each command. */
  percentiles: readonly number[] = []
  outputLimits: ReadonlyMap<OutputClass, OutputLimit> = new Map()

  /** `node`: whose eviction is set. */
  constructor(settings: DoorSettings, notifications: Notifications, node: DoorNode) {
    for (const parameter of [...this.#own(settings, notifications, node), ...keptParameters()])
      this.#byName.set(parameter.name, parameter)
    this.#refresh()
    this.onChanged((name) => {
      if (name === 'slowlog-log-slower-than') node.slowLog.slowerThanUs = Number(this.get(name))
      if (name === 'slowlog-max-len') node.slowLog.max = Number(this.get(name))
      if (!/^maxmemory(-policy|-samples)?$/.test(name)) return
      const policy = this.get('maxmemory-policy') as EvictionPolicy
      const boundBytes = Number(this.get('maxmemory'))
      const samples = Number(this.get('maxmemory-samples'))
      node.eviction = { policy, samples, boundBytes: boundBytes === node.memoryBytes ? undefined : boundBytes }
    })
  }

  /** Names in lower case. */
  get names(): readonly string[] {
    return [...this.#byName.keys()]
  }

  get(name: string): string | undefined {
    return this.#byName.get(name)?.value
  }

  /** Called with each name that was set. */
  onChanged(changed: (name: string) => void): void {
    this.#changed.push(changed)
  }

  /** All, or none if one is refused. @throws CommandFault */
  set(pairs: readonly (readonly [name: string, value: string])[]): void {
    const names = pairs.map(([name]) => name.toLowerCase())
    for (const name of names)
      if (!this.#byName.has(name))
        throw new CommandFault(`Unknown option or number of arguments for CONFIG SET - '${name}'`)
    const read = pairs.map(([, value], at) =>
      readOne(this.#byName.get(names[at]!)!, value, names.indexOf(names[at]!) < at),
    )
    for (const [at, value] of read.entries()) {
      const parameter = this.#byName.get(names[at]!)!
      parameter.value = value
      parameter.applied?.(pairs[at]![1])
    }
    this.#refresh()
    for (const name of names) for (const changed of this.#changed) changed(name)
  }

  /** What is set in another way, such as a password by ACL SETUSER. */
  put(name: string, value: string): void {
    this.#byName.get(name)!.value = value
  }

  #own(settings: DoorSettings, notifications: Notifications, node: DoorNode): readonly Parameter[] {
    return [
      whole('maxclients', settings.clientsMax, 1, 2 ** 32 - 1),
      whole('timeout', 0, 0, 2 ** 31 - 1),
      whole('tcp-keepalive', 300, 0, 2 ** 31 - 1),
      memory('proto-max-bulk-len', 512 * 2 ** 20, 2 ** 20),
      memory('client-query-buffer-limit', 2 ** 30, 2 ** 20),
      outputLimitParameter((limits) => {
        this.outputLimits = limits
      }),
      memoryParameter(node.memoryBytes),
      choice('maxmemory-policy', node.eviction.policy, EVICTION_POLICIES),
      whole('maxmemory-samples', node.eviction.samples, 1, 2 ** 31 - 1),
      only('databases', '16', 'the index has 16 databases'),
      flag('appendonly', settings.hasDirectory === true ? 'yes' : 'no'),
      appendParameter(node.append),
      text('save', '', readSave),
      eventsParameter(notifications),
      whole('slowlog-log-slower-than', node.slowLog.slowerThanUs, -1, Number.MAX_SAFE_INTEGER),
      whole('slowlog-max-len', node.slowLog.max, 0, Number.MAX_SAFE_INTEGER),
      whole('latency-monitor-threshold', 0, 0, Number.MAX_SAFE_INTEGER),
      whole('tracking-table-max-keys', 1_000_000, 0, Number.MAX_SAFE_INTEGER),
      flag('latency-tracking', 'yes'),
      text('latency-tracking-info-percentiles', '50 99 99.9', readPercentiles),
      text('requirepass', settings.password ?? ''),
      whole('acllog-max-len', 128, 0, 2 ** 31 - 1),
      choice('acl-pubsub-default', 'resetchannels', ['allchannels', 'resetchannels']),
      fixed('aclfile', ''),
      only('port', settings.tls === undefined ? String(settings.port) : '0', WHERE_OPENED),
      only('tls-port', settings.tls === undefined ? '0' : String(settings.port), WHERE_OPENED),
      only('bind', settings.address, WHERE_OPENED),
      fixed('unixsocket', ''),
      fixed('cluster-enabled', settings.isCluster ? 'yes' : 'no'),
      fixed('daemonize', 'no'),
      fixed('dir', process.cwd()),
      fixed('dbfilename', ''),
      fixed('logfile', ''),
      fixed('io-threads', String(settings.ioThreads ?? 1)),
      fixed('replicaof', ''),
      fixed('slaveof', ''),
      only('protected-mode', 'no', 'there is no protected mode; set a password with --password-file'),
      fixed('enable-debug-command', 'yes'),
    ]
  }

  #refresh(): void {
    const number = (name: string): number => Number(this.#byName.get(name)!.value)
    this.clientsMax = number('maxclients')
    this.timeoutSeconds = number('timeout')
    this.keepAliveSeconds = number('tcp-keepalive')
    this.bulkBytesMax = number('proto-max-bulk-len')
    this.queryBytesMax = number('client-query-buffer-limit')
    this.latencyThresholdMs = number('latency-monitor-threshold')
    this.trackedKeysMax = number('tracking-table-max-keys')
    this.tracksLatency = this.get('latency-tracking') === 'yes'
    this.percentiles = this.get('latency-tracking-info-percentiles')!.split(' ').filter(Boolean).map(Number)
  }
}

function readOne({ name, read }: Parameter, value: string, isTwice: boolean): string {
  const failed = (why: string): CommandFault =>
    new CommandFault(`CONFIG SET failed (possibly related to argument '${name}') - ${why}`)
  if (isTwice) throw failed('duplicate parameter')
  if (read === undefined) throw failed("can't set immutable config")
  try {
    return read(value)
  } catch (error) {
    throw error instanceof CommandFault ? failed(error.message) : error
  }
}

/** Without a directory nothing is on a disk, and what is set is kept. */
function appendParameter(append: AppendPolicy | undefined): Parameter {
  return append === undefined ? text('appendfsync', 'everysec') : only('appendfsync', append, APPEND_OPENED)
}

/** The bound of the index is chosen when it begins. A server may use less of it; 0: all. */
function memoryParameter(memoryBytes: number): Parameter {
  const bound = memory('maxmemory', memoryBytes)
  return {
    ...bound,
    read: (given) => {
      const wanted = Number(bound.read!(given))
      if (wanted > memoryBytes) throw new CommandFault(MEMORY_OPENED)
      return String(wanted === 0 ? memoryBytes : wanted)
    },
  }
}

/** `3600 1 300 100`: seconds and changes. Nothing is saved by it: what was answered is in the log. */
function readSave(given: string): string {
  const words = given.split(' ').filter((word) => word !== '')
  if (words.length % 2 !== 0 || words.some((word) => !/^\d{1,10}$/.test(word)))
    throw new CommandFault('Invalid save parameters')
  return words.join(' ')
}

/** As `50 99 99.9`. */
function readPercentiles(given: string): string {
  const name = 'latency-tracking-info-percentiles'
  const words = given === '' ? [] : given.split(' ')
  if (words.some((word) => !/^[-+]?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?$/i.test(word)))
    throw new CommandFault(`Invalid ${name} parameters`)
  const percents = words.map(Number)
  if (percents.some((percent) => percent < 0 || percent > 100))
    throw new CommandFault(`${name} parameters should sit between [0.0,100.0]`)
  return percents.map((percent) => String(Number(percent.toFixed(6)))).join(' ')
}

function eventsParameter(notifications: Notifications): Parameter {
  return {
    name: 'notify-keyspace-events',
    value: '',
    read: (given) => formatFlags(parseFlags(given)),
    applied(given) {
      notifications.flags = parseFlags(given)
    },
  }
}
