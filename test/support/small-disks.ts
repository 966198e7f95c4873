import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { mkdirSync } from 'node:fs'
import { smallDisksRefused } from '../structures/small-disk.ts'

const MEGABYTES = 160
const FILLER = 'filler'

/** Disks of their own for directories, each of which can be full for a while. Programs have to run `under` them. */
export class SmallDisks implements Disposable {
  readonly #keeper: ChildProcess

  /** Why there are none here; undefined if there are. */
  static reasonAgainst(): string | undefined {
    return smallDisksRefused()
  }

  constructor() {
    const keep = ['--user', '--map-root-user', '--mount', 'sh', '-c', 'echo; exec sleep infinity']
    this.#keeper = spawn('unshare', keep, { stdio: ['ignore', 'pipe', 'ignore'] })
  }

  /** Once that is so, it is in namespaces of its own. */
  async begun(): Promise<void> {
    await new Promise((resolve) => this.#keeper.stdout!.once('data', resolve))
  }

  /** What runs a program there. */
  get under(): readonly string[] {
    return ['nsenter', '--target', String(this.#keeper.pid), '--user', '--mount', '--wd=/']
  }

  /** Make a directory on a disk of its own. */
  add(directory: string): void {
    mkdirSync(directory)
    this.#run(`mount -t tmpfs -o size=${MEGABYTES}m,mode=700 none ${directory}`)
  }

  /** There is no room on it, until {@link empty}. */
  fill(directory: string): void {
    this.#run(`cat /dev/zero 2>/dev/null > ${directory}/${FILLER}; test -s ${directory}/${FILLER}`)
  }

  empty(directory: string): void {
    this.#run(`rm -f ${directory}/${FILLER}`)
  }

  /** With the keeper's namespace go the disks. */
  [Symbol.dispose](): void {
    this.#keeper.kill('SIGKILL')
  }

  #run(script: string): void {
    const [command = '', ...words] = this.under
    const { status, stderr } = spawnSync(command, [...words, 'sh', '-c', script], { encoding: 'utf8' })
    if (status !== 0) throw new Error(`${script}: ${stderr}`)
  }
}
