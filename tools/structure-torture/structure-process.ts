import { TortureChild } from '../torture-child/torture-child.ts'
import type { StructureFate, StructureOrder, StructurePlan, StructureReply } from './plan.ts'

type Reply<Type extends StructureReply['type']> = Extract<StructureReply, { readonly type: Type }>

/** A process of a torture of structures, from the outside. */
export class StructureProcess extends TortureChild<StructureOrder, StructureReply> {
  readonly plan: StructurePlan
  isReady: boolean = false

  constructor(plan: StructurePlan, environment: Readonly<Record<string, string>>) {
    super(new URL('./process.js', import.meta.url), plan, environment)
    this.plan = plan
    void this.reply('ready').then((reply) => {
      this.isReady = reply !== undefined
    })
  }

  get fate(): StructureFate {
    const { incarnation, seat } = this.plan
    return { incarnation, seat, killedMs: this.killedUs === undefined ? null : this.killedUs / 1000 }
  }

  /** In words, how it ended where it should not have ended so. */
  get failure(): string | undefined {
    const { role, incarnation } = this.plan
    if (this.killedUs !== undefined || this.end === undefined || this.end.exitCode === 0) return undefined
    const who = role === 'judge' ? 'the judge' : `process ${incarnation}`
    return `${who} ended with ${this.end.exitCode ?? this.end.signal}: ${this.end.said.trim()}`
  }

  /** The next reply of a type; undefined where it ended before. */
  reply<Type extends StructureReply['type']>(type: Type): Promise<Reply<Type> | undefined> {
    return this.nextReply((reply): reply is Reply<Type> => reply.type === type)
  }
}
