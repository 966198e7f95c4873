import { TortureChild } from '../torture-child/torture-child.ts'
import type { TortureOrder, TorturePlan, TortureReply } from './torture-plan.ts'

/** A rank as a process, from the outside. */
export class TortureProcess extends TortureChild<TortureOrder, TortureReply> {
  readonly rank: number
  /**
   * Resolves when it is in the group, and when it has looked at all pages for the last time; false where it ended
   * before.
   */
  readonly ready: Promise<boolean>
  readonly done: Promise<boolean>

  constructor(rank: number, plan: TorturePlan, environment: Readonly<Record<string, string>>) {
    super(new URL('./rank.js', import.meta.url), plan, environment)
    this.rank = rank
    this.ready = this.#hasSaid('ready')
    this.done = this.#hasSaid('done')
  }

  async #hasSaid(wanted: TortureReply): Promise<boolean> {
    return (await this.nextReply((reply): reply is TortureReply => reply === wanted)) !== undefined
  }
}
