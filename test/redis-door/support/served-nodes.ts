import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import process from 'node:process'
import { after } from 'node:test'
import { fileURLToPath } from 'node:url'
import { freePort } from '../../../tools/bench/peers/free-port.ts'
import { until } from '../../cluster/support.ts'

const main = fileURLToPath(new URL('../../../src/cli/main.js', import.meta.url))
/** Much, for busy machines. */
const START_MS_MAX = 60_000
let indexes = 0

const started = new Set<ChildProcess>()
after(() => {
  for (const child of started) child.kill('SIGKILL')
})

/** An `aether serve` with a door at a port that stays the same when it is started again. */
export class ServedNode {
  readonly port: number
  readonly #arguments: readonly string[]
  #child: ChildProcess | undefined
  #said = ''

  constructor(name: string, port: number, options: readonly string[]) {
    this.port = port
    this.#arguments = [main, 'serve', name, '--port', String(port), ...options]
  }

  get processId(): number {
    return this.#child!.pid!
  }

  /** As far as it has said so: it looks several times a second. */
  get isLeader(): boolean {
    return /.*^(leads|follows)$/ms.exec(this.#said)?.[1] === 'leads'
  }

  /** Resolves when it takes clients. */
  async start(): Promise<void> {
    this.#said = ''
    this.#child = spawn(process.execPath, this.#arguments, { stdio: ['ignore', 'pipe', 'inherit'] })
    started.add(this.#child)
    this.#child.stdout!.on('data', (text) => (this.#said += String(text)))
    await until(() => /^serving/m.test(this.#said), `${this.#arguments.join(' ')} takes clients`, START_MS_MAX)
  }

  /** SIGKILL. */
  async kill(): Promise<void> {
    const ended = once(this.#child!, 'exit')
    this.#child!.kill('SIGKILL')
    await ended
    started.delete(this.#child!)
  }
}

/**
 * Nodes of an index of their own, each with all of it.
 *
 * The test calls `useRuntimeDirectory()` of `test/cluster/support.ts` first.
 */
export async function startNodes(size: number, ...options: readonly string[]): Promise<readonly ServedNode[]> {
  indexes += 1
  const name = `served-${process.pid}-${indexes}`
  const nodes: ServedNode[] = []
  for (let at = 0; at < size; at += 1)
    nodes.push(new ServedNode(name, await freePort(), ['--replicas', String(size), ...options]))
  await Promise.all(nodes.map((node) => node.start()))
  await until(() => nodes.some(({ isLeader }) => isLeader), `a node of ${name} leads`)
  return nodes
}
