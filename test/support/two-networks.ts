import { spawnSync } from 'node:child_process'
import process from 'node:process'

/** Two network namespaces, a and b, joined by a cable: two machines, as far as the network tells. */
export class TwoNetworks implements Disposable {
  readonly names: readonly [string, string]
  readonly addresses = ['10.77.0.1', '10.77.0.2'] as const

  private constructor(names: readonly [string, string]) {
    this.names = names
  }

  /** Why they cannot be made here; false where they can. */
  static reasonAgainst(): string | false {
    const name = `aether-probe-${process.pid}`
    const made = spawnSync('ip', ['netns', 'add', name], { encoding: 'utf8' })
    if (made.status !== 0) return `network namespaces cannot be made here: ${made.error?.message ?? made.stderr.trim()}`
    spawnSync('ip', ['netns', 'del', name])
    return false
  }

  static make(): TwoNetworks {
    const names = ['a', 'b'].map((end) => `aether-${process.pid}-${end}`) as [string, string]
    const made = new TwoNetworks(names)
    try {
      for (const name of names) run('netns', 'add', name)
      run('-n', names[0], 'link', 'add', 'cable', 'type', 'veth', 'peer', 'name', 'cable', 'netns', names[1])
      for (const [end, name] of names.entries()) {
        run('-n', name, 'address', 'add', `${made.addresses[end]}/24`, 'dev', 'cable')
        for (const link of ['lo', 'cable']) run('-n', name, 'link', 'set', link, 'up')
      }
    } catch (error) {
      made[Symbol.dispose]()
      throw error
    }
    return made
  }

  /** What to put before a command, so that it runs in namespace `end`. */
  in(end: 0 | 1): string[] {
    return ['ip', 'netns', 'exec', this.names[end]]
  }

  /** With them goes the cable. */
  [Symbol.dispose](): void {
    for (const name of this.names) spawnSync('ip', ['netns', 'del', name])
  }
}

function run(...words: string[]): void {
  const { status, stderr, error } = spawnSync('ip', words, { encoding: 'utf8' })
  if (status !== 0) throw new Error(`ip ${words.join(' ')}: ${error?.message ?? stderr.trim()}`)
}
