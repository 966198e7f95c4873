import type { CoherenceMessage, FrameReference } from 'aether-dsm/internal/dsm'
import type { Symmetry } from './symmetry.ts'

/** A model's frames are told apart by number, so that a message that carries the wrong one is found out. */
export const frameOf = (node: number, page: number): FrameReference => ({ address: 1 + node * 16 + page, key: 1 })

/** The node and page whose frame it is; undefined if it is not a frame. */
export function ownerOfFrame({ address }: FrameReference): { node: number; page: number } | undefined {
  return address < 1 ? undefined : { node: (address - 1) >>> 4, page: (address - 1) & 15 }
}

/** Every message that was ever sent, by a small number. */
export class MessageTable {
  readonly #messages: CoherenceMessage[] = []
  readonly #ids = new Map<string, number>()

  get size(): number {
    return this.#messages.length
  }

  idOf(message: CoherenceMessage): number {
    const key = JSON.stringify(message)
    let id = this.#ids.get(key)
    if (id === undefined) {
      id = this.#messages.push(message) - 1
      this.#ids.set(key, id)
    }
    return id
  }

  at(id: number): CoherenceMessage {
    return this.#messages[id]!
  }

  /** The same message among nodes and pages of other names. */
  renamed(id: number, { nodes, pages }: Symmetry): number {
    const message = this.at(id)
    const frame = (reference: FrameReference): FrameReference => {
      const owner = ownerOfFrame(reference)
      return owner === undefined ? reference : frameOf(nodes[owner.node]!, pages[owner.page]!)
    }
    return this.idOf({
      ...message,
      page: pages[message.page]!,
      from: nodes[message.from]!,
      requester: nodes[message.requester] ?? message.requester,
      requesterFrame: frame(message.requesterFrame),
      homeFrame: frame(message.homeFrame),
    })
  }
}
