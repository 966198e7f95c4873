import { spawnSync } from 'node:child_process'
import process from 'node:process'

const SWITCH = 'switch'
const LOSS = '0.005'
export const NETEM: readonly string[] = ['delay', '1ms', '1ms', 'loss', '0.5%', 'reorder', '10%']

/** Network namespaces that are joined by a switch: machines, as far as the network tells. */
export class Networks implements Disposable {
  readonly names: readonly string[]
  readonly addresses: readonly string[]
  readonly #switch: string

  private constructor(count: number) {
    this.names = Array.from({ length: count }, (_, index) => `aether-${process.pid}-${index}`)
    this.addresses = this.names.map((_, index) => `10.77.0.${index + 1}`)
    this.#switch = `aether-${process.pid}-${SWITCH}`
  }

  /** Why they cannot be made here; false where they can. */
  static reasonAgainst(): string | false {
    try {
      Networks.make(1)[Symbol.dispose]()
      return false
    } catch (error) {
      return `network namespaces cannot be made here: ${(error as Error).message}`
    }
  }

  static make(count = 2): Networks {
    const made = new Networks(count)
    try {
      made.#build()
    } catch (error) {
      made[Symbol.dispose]()
      throw error
    }
    return made
  }

  #build(): void {
    run('netns', 'add', this.#switch)
    run('-n', this.#switch, 'link', 'add', SWITCH, 'type', 'bridge')
    run('-n', this.#switch, 'link', 'set', SWITCH, 'up')
    for (const [index, name] of this.names.entries()) {
      const port = portOf(index)
      run('netns', 'add', name)
      run('-n', this.#switch, 'link', 'add', port, 'type', 'veth', 'peer', 'name', 'cable', 'netns', name)
      run('-n', this.#switch, 'link', 'set', port, 'master', SWITCH, 'up')
      run('-n', name, 'address', 'add', `${this.addresses[index]}/24`, 'dev', 'cable')
      for (const link of ['lo', 'cable']) run('-n', name, 'link', 'set', link, 'up')
    }
  }

  /** What to put before a command, so that it runs in namespace `index`. */
  in(index: number): string[] {
    return ['ip', 'netns', 'exec', this.names[index]!]
  }

  /** Pull the cable of namespace `index` out of the switch. No end of it sees that its link is down. */
  unplug(index: number): void {
    run('-n', this.#switch, 'link', 'set', portOf(index), 'nomaster')
  }

  plug(index: number): void {
    run('-n', this.#switch, 'link', 'set', portOf(index), 'master', SWITCH)
  }

  /**
   * From now on cables delay, lose and reorder what they carry. A kernel without netem(8) only loses it, by
   * iptables(8). Says what they do.
   */
  disturb(): string {
    const ports = this.names.map((_, index) => portOf(index))
    const netem = (port: string) => ['qdisc', 'add', 'dev', port, 'root', 'netem', ...NETEM]
    const tc = ports.map((port) => spawnSync('ip', ['netns', 'exec', this.#switch, 'tc', ...netem(port)]))
    if (tc.every(({ status }) => status === 0)) return `cables have netem ${NETEM.join(' ')}`
    const rule = ['-A', 'INPUT', '-i', 'cable', '-m', 'statistic', '--mode', 'random', '--probability', LOSS]
    for (const name of this.names) run('netns', 'exec', name, 'iptables', ...rule, '-j', 'DROP')
    return `cables lose ${LOSS} of all packets; delay and order are skipped: this kernel has no netem`
  }

  /** With them go the cables. */
  [Symbol.dispose](): void {
    for (const name of [...this.names, this.#switch]) spawnSync('ip', ['netns', 'del', name])
  }
}

const portOf = (index: number): string => `port${index}`

function run(...words: readonly string[]): void {
  const { status, stderr, error } = spawnSync('ip', words, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`ip ${words.join(' ')}: ${error?.message ?? stderr.trim()}`)
}
