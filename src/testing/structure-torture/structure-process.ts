import { type ChildProcess, fork } from 'node:child_process'
import process from 'node:process'
import { fileURLToPath } from 'node:url'
import type { StructureFate, StructureOrder, StructurePlan, StructureReply } from './plan.ts'
import { clockMs } from './subject.ts'

type Reply<Type extends StructureReply['type']> = Extract<StructureReply, { readonly type: Type }>

/** A process of a torture of structures, from the outside. It leads a session of its own, so that a guard can end it by its number. */
export class StructureProcess {
  readonly plan: StructurePlan
  readonly ended: Promise<void>
  isReady: boolean = false
  isStopped: boolean = false
  readonly #child: ChildProcess
  #killedMs: number | undefined
  #exit: string | undefined
  #said = ''

  constructor(plan: StructurePlan, environment: Readonly<Record<string, string>>) {
    this.plan = plan
    this.#child = fork(fileURLToPath(new URL('./process.js', import.meta.url)), [JSON.stringify(plan)], {
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
      detached: true,
    })
    this.#child.stderr?.on('data', (chunk) => (this.#said += chunk))
    // Orders to one that has just ended.
    this.#child.on('error', () => {})
    this.ended = new Promise((resolve) =>
      this.#child.once('close', (exitCode, signal) => {
        this.#exit = String(exitCode ?? signal)
        resolve()
      }),
    )
    void this.reply('ready').then((reply) => {
      this.isReady = reply !== undefined
    })
  }

  get processId(): number {
    return this.#child.pid ?? 0
  }

  get isAlive(): boolean {
    return this.#exit === undefined && this.#killedMs === undefined
  }

  get fate(): StructureFate {
    const { incarnation, seat } = this.plan
    return { incarnation, seat, killedMs: this.#killedMs ?? null }
  }

  /** In words, how it ended where it should not have ended so. */
  get failure(): string | undefined {
    const { role, incarnation } = this.plan
    if (this.#killedMs !== undefined || this.#exit === undefined || this.#exit === '0') return undefined
    const who = role === 'judge' ? 'the judge' : `process ${incarnation}`
    return `${who} ended with ${this.#exit}: ${this.#said.trim()}`
  }

  kill(): void {
    this.#killedMs ??= clockMs()
    this.#child.kill('SIGKILL')
  }

  stop(): void {
    this.isStopped = true
    this.#child.kill('SIGSTOP')
  }

  goOn(): void {
    this.#child.kill('SIGCONT')
    this.isStopped = false
  }

  order(order: StructureOrder): void {
    if (this.#child.connected) this.#child.send(order, () => {})
  }

  /** The next reply of a type; undefined where it ended before. */
  reply<Type extends StructureReply['type']>(type: Type): Promise<Reply<Type> | undefined> {
    return new Promise((resolve) => {
      const listen = (reply: StructureReply): void => {
        if (reply.type !== type) return
        this.#child.off('message', listen)
        resolve(reply as Reply<Type>)
      }
      this.#child.on('message', listen)
      void this.ended.then(() => resolve(undefined))
    })
  }
}
